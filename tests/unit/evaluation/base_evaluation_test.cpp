// SPDX-License-Identifier: Apache-2.0
#include "bigbird/evaluation/base_evaluation.hpp"

#include "support/captured_log.hpp"
#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/json_file.hpp"

#include <vector>

using namespace bigbird;
using namespace bigbird::testing;
using namespace bigbird::evaluation;

namespace {

const std::string header = "##task=tokens\n#chrom\tstart\tend\tname\tscore\tstrand\tstatus\tn_fraction\t";

struct Scene {
    TempDir folder;
    BaseEvaluationRequest request;
    Scene() {
        write_file(folder / "genome.fa", ">1\n" + std::string(100, 'A') + "\n");
        request = {.scores = folder / "scores.tsv",
                   .labels = folder / "labels.bed",
                   .references = {folder / "genome.fa"}};
        labels("1\t20\t40\texon\n1\t60\t70\tdonor\n");
        // Bases 0-10 NA, 10-30 exon (ten wrong), 30-60 none (ten wrong), 60-100 donor (thirty wrong).
        scores("none\tdonor\texon",
               "1\t0\t10\t.\t.\t.\tall_n\t1\tNA\tNA\tNA\n1\t10\t30\t.\t.\t.\tok\t0\t0.2\t0.1\t0.7\n"
               "1\t30\t60\t.\t.\t.\tok\t0\t0.8\t0.1\t0.1\n1\t60\t100\t.\t.\t.\tok\t0\t0.3\t0.5\t0.2\n");
    }
    void labels(const std::string& text) const { write_file(folder / "labels.bed", text); }
    void scores(const std::string& columns, const std::string& text) const {
        write_file(folder / "scores.tsv", header + columns + "\n" + text);
    }
};

}  // namespace

DOCTEST_TEST_CASE("base_evaluation: every figure counts bases") {
    const Scene scene;
    const BaseEvaluation found = evaluate_bases(scene.request);
    DOCTEST_CHECK(found.bases == 90);
    DOCTEST_CHECK(found.not_scored == 10);
    DOCTEST_REQUIRE(found.labels.size() == 3);
    const BaseFigures &none = found.labels[0], &donor = found.labels[1], &exon = found.labels[2];
    DOCTEST_CHECK(none.bases == 60);
    DOCTEST_CHECK(donor.bases == 10);
    DOCTEST_CHECK(donor.called == 40);
    DOCTEST_CHECK(*donor.precision.value == doctest::Approx(0.25));
    DOCTEST_CHECK(*donor.recall.value == doctest::Approx(1.0));
    DOCTEST_CHECK(exon.bases == 20);
    DOCTEST_CHECK(*exon.f1.value == doctest::Approx(0.5));
    // Exon: ten of its bases before all but ten others, ten behind all others but twenty.
    DOCTEST_CHECK(*exon.auroc.value == doctest::Approx((10 * (60 + 5) + 10 * 10.0) / (20 * 70)));
    DOCTEST_CHECK(*found.accuracy.value == doctest::Approx((10 + 20 + 10) / 90.0));
    DOCTEST_CHECK(*found.majority == doctest::Approx(60 / 90.0));
    DOCTEST_CHECK(*found.mean_f1.value == doctest::Approx((*exon.f1.value + *donor.f1.value) / 2));
}

DOCTEST_TEST_CASE("base_evaluation: rows that predict-tokens marked as invalid are counted and left out") {
    const Scene scene;
    const std::string table = read_file(scene.request.scores);
    write_file(scene.request.scores, table +
                                         "1\tx\t9\t.\t.\t.\tmalformed\tNA\tNA\tNA\tNA\n"
                                         "7\t1\t9\t.\t.\t.\tno_contig\tNA\tNA\tNA\tNA\n");
    const CapturedLog log;
    DOCTEST_CHECK(evaluate_bases(scene.request).bases == 90);
    DOCTEST_CHECK(holds(log.text(), "2 rows are malformed or not on the reference, and left out"));
}

DOCTEST_TEST_CASE("base_evaluation: bases that several rows score are told of") {
    const Scene scene;
    const auto said = [&] {
        const CapturedLog log;
        evaluate_bases(scene.request);
        return log.text();
    };
    DOCTEST_CHECK(said().empty());
    scene.scores("none\tdonor\texon",
                 "1\t30\t60\t.\t.\t.\tok\t0\t0.8\t0.1\t0.1\n1\t10\t30\t.\t.\t.\tok\t0\t0.2\t0.1\t0.7\n"
                 "1\t20\t40\t.\t.\t.\tok\t0\t0.8\t0.1\t0.1\n1\t60\t70\t.\t.\t.\tok\t0\t0.3\t0.5\t0.2\n");
    DOCTEST_CHECK(said() == "warning: " + (scene.folder / "scores.tsv").string() +
                                ": 20 bases are scored by more than one row, and count once for each\n");
}

DOCTEST_TEST_CASE("base_evaluation: reports as JSON and as a table") {
    const Scene scene;
    const BaseEvaluation found = evaluate_bases(scene.request);
    write_report(found, scene.folder / "report.json", Overwrite::refuse)->commit();
    write_report(found, scene.folder / "report.tsv", Overwrite::refuse)->commit();
    const Json json = read_json(scene.folder / "report.json");
    DOCTEST_CHECK(json["bases"] == 90);
    DOCTEST_CHECK(json["labels"][2]["label"] == "exon");
    DOCTEST_CHECK(json["scores"]["task"] == "tokens");
    DOCTEST_CHECK(read_file(scene.folder / "report.tsv").find("\ndonor\t10\t40\t") != std::string::npos);
    DOCTEST_CHECK(to_lines(found)[0].starts_with("90 bases, 10 without scores, 1 block; accuracy 0.444 ("));
}

DOCTEST_TEST_CASE("base_evaluation: labels without scores and rows off the reference are named") {
    const Scene scene;
    const auto refusal = [&] { return message_of<InputError>([&] { evaluate_bases(scene.request); }); };
    scene.labels("1\t20\t40\texon\n1\t60\t70\tacceptor\n");
    DOCTEST_CHECK(refusal() == (scene.folder / "labels.bed").string() +
                                   ":2: label 'acceptor' is none of the labels that " +
                                   (scene.folder / "scores.tsv").string() +
                                   " has scores of: none, donor, exon");
    scene.labels("1\t20\t40\texon\n");
    scene.scores("none\texon", "1\t90\t101\t.\t.\t.\tok\t0\t0.5\t0.5\n");
    DOCTEST_CHECK(refusal() ==
                  (scene.folder / "scores.tsv").string() + ":3: 1:90-101 does not lie on the reference");
    scene.scores("none\texon", "1\t90\t91\t.\t.\t.\tall_n\t1\tNA\tNA\n");
    DOCTEST_CHECK(refusal() == (scene.folder / "scores.tsv").string() + ": holds no base with scores");
    scene.scores("rest\texon", "1\t90\t91\t.\t.\t.\tok\t0\t0.5\t0.5\n");
    DOCTEST_CHECK(refusal() == (scene.folder / "scores.tsv").string() +
                                   ": has no scores of the label 'none', which bases without a row have: "
                                   "give scores of predict-tokens");
}

DOCTEST_TEST_CASE("base_evaluation: intervals come from blocks of genome, and are wide where these differ") {
    Scene scene;
    scene.labels("1\t20\t40\texon\n1\t60\t70\texon\n");
    scene.scores("none\texon",
                 "1\t0\t20\t.\t.\t.\tok\t0\t0.7\t0.3\n1\t20\t40\t.\t.\t.\tok\t0\t0.2\t0.8\n"
                 "1\t40\t60\t.\t.\t.\tok\t0\t0.8\t0.2\n1\t60\t80\t.\t.\t.\tok\t0\t0.6\t0.4\n"
                 "1\t80\t100\t.\t.\t.\tok\t0\t0.4\t0.6\n");
    const auto in_blocks = [&](std::int64_t size) {
        scene.request.options.block_size = size;
        return evaluate_bases(scene.request);
    };
    const BaseEvaluation four = in_blocks(25), five = in_blocks(20);
    DOCTEST_CHECK(four.blocks == 4);
    DOCTEST_CHECK(!four.accuracy.low);  // too few
    DOCTEST_CHECK(five.blocks == 5);
    DOCTEST_CHECK(five.accuracy.value == four.accuracy.value);
    DOCTEST_REQUIRE(five.accuracy.low);
    // Blocks are right in 20, 20, 20, 10 and 0 of their 20 bases.
    DOCTEST_CHECK(*five.accuracy.value == doctest::Approx(0.7));
    DOCTEST_CHECK(*five.accuracy.low < 0.65);
    DOCTEST_CHECK(*five.accuracy.low > 0.1);
    DOCTEST_CHECK(*five.accuracy.high > 0.8);
    DOCTEST_CHECK(*five.accuracy.high <= 1.0);
}
