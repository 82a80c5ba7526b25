// SPDX-License-Identifier: Apache-2.0
// finetune-tokens, predict-tokens and evaluate-tokens, on real sequence and repeats.
#include "cli/checks.hpp"
#include "support/temp_dir.hpp"
#include "tasks/tiny_task.hpp"

#include "bigbird/core/formats/json_file.hpp"

using namespace bigbird;
using namespace bigbird::testing;

namespace {

class TokensFixture : public TestFolder {
public:
    explicit TokensFixture(const std::string& verb = "finetune-tokens") : verb_(verb) {
        write_tiny_pretrained(folder_ / "pretrained", 1);
    }
    ProgramResult finetune(const std::string& run, const std::vector<std::string>& more = {},
                           const std::string& labels = test_data("tokens/labels.bed.gz").string()) const {
        return run_program(joined(
            joined(words_of(verb_ + " --include 22:17000001-17040000 --validation 22:17030001-17040000 "
                                    "--window 400 --batch-size 4 --steps 4 --device cpu --threads 2"),
                   {"--labels", labels, "--reference", reference(), "--model", *this / "pretrained",
                    "--output", *this / run}),
            more));
    }
    ProgramResult predict(const std::string& output, const std::vector<std::string>& more = {}) const {
        return run_program(
            joined({"predict-tokens", "--model", *this / "run", "--reference", reference(), "--regions",
                    *this / "regions.bed", "--output", *this / output, "--device", "cpu"},
                   more));
    }
    ProgramResult evaluate(const std::string& labels, const std::string& output) const {
        return run_program({"evaluate-tokens", "--scores", *this / "scores.tsv", "--labels", labels,
                            "--reference", reference(), "--output", output});
    }
    static std::string reference() { return test_data("genome/22.fa.gz").string(); }
    std::string weights(const std::string& run) const { return weights_of(*this / run); }

private:
    std::string verb_;
};

std::string error(const std::string& text) {
    return "bigbird-dna: error: " + text + "\n";
}

}  // namespace

DOCTEST_TEST_CASE("tokens: trained, predicted and evaluated by the program") {
    const TokensFixture fixture;
    succeeded(fixture.finetune("run"));
    write_file(fixture / "regions.bed", "chr22\t17030000\t17031000\tx\n");
    succeeded(fixture.predict("scores.tsv"));
    succeeded(fixture.predict("{label}.bw"));
    DOCTEST_CHECK(std::filesystem::exists(fixture / "repeat.bw"));
    const std::string table = read_file(fixture / "scores.tsv");
    DOCTEST_CHECK(holds(table, "\tn_fraction\tnone\tbound\trepeat\n"));
    const std::string labels = test_data("tokens/labels.bed.gz");
    const auto by_verb = [](const std::vector<std::string>& words) { return run_program(words); };
    succeeded(
        by_verb({"predict", "--model", fixture / "run", "--reference", TokensFixture::reference(),
                 "--regions", fixture / "regions.bed", "--output", fixture / "verb.tsv", "--device", "cpu"}));
    DOCTEST_CHECK(read_file(fixture / "verb.tsv") == table);
    const ProgramResult figures = by_verb({"evaluate", "--scores", fixture / "verb.tsv", "--labels", labels,
                                           "--reference", TokensFixture::reference(), "--output", "-"});
    DOCTEST_CHECK(Json::parse(figures.out)["bases"] == 1000);
    DOCTEST_CHECK(fixture.predict("scores.tsv").code == 2);
    const ProgramResult evaluated =
        succeeded(fixture.evaluate(test_data("tokens/labels.bed.gz").string(), "-"));
    const Json report = Json::parse(evaluated.out);
    DOCTEST_CHECK(report["bases"] == 1000);
    DOCTEST_CHECK(report["labels"].size() == 3);

    const std::string other = fixture / "other.bed";
    write_file(other, "22\t17030000\t17030010\trepeat\n22\t17030100\t17030110\texon\n");
    const ProgramResult unknown = fixture.evaluate(other, fixture / "report.json");
    DOCTEST_CHECK(unknown.code == 3);
    DOCTEST_CHECK(
        unknown.err.ends_with(error(other + ":2: label 'exon' is none of the labels that " +
                                    (fixture / "scores.tsv") + " has scores of: none, bound, repeat")));
    check_said(fixture.predict("x.tsv", {"--labels", "exon"}), 2, "exon");
    const ProgramResult as_chromatin = run_program(
        {"predict-chromatin", "--model", fixture / "run", "--reference", TokensFixture::reference(),
         "--regions", fixture / "regions.bed", "--output", fixture / "y.tsv", "--device", "cpu"});
    DOCTEST_CHECK(as_chromatin.code == 3);
    DOCTEST_CHECK(as_chromatin.err.ends_with(": is a tokens model; use predict-tokens\n"));
}

DOCTEST_TEST_CASE("tokens: scores are calibrated on --validation, as the model says, or not") {
    const TokensFixture fixture;
    const std::vector<std::string> balanced{"--positive-weight", "balanced"},
        calibrated{"--positive-weight", "balanced", "--calibration", "validation"};
    succeeded(fixture.finetune("run", calibrated));
    const std::string file = fixture / "run/model/calibration.json";
    const Json calibration = read_json(file);
    DOCTEST_CHECK(calibration["biases"].size() == 3);
    DOCTEST_CHECK(calibration["bases_of_validation"] == 10000);
    DOCTEST_CHECK(calibration["cross_entropy_after"] < calibration["cross_entropy_before"]);
    const std::string card = read_file(fixture / "run/model/README.md");
    DOCTEST_CHECK(holds(card, "They were fitted on 10,000 bases of validation"));
    // Weights of labels are no use behind a calibration, which is left out with them.
    check_said(fixture.finetune("run", balanced), 2, "--calibration");
    succeeded(fixture.finetune("plain", balanced));
    DOCTEST_CHECK(fixture.weights("plain") == fixture.weights("run"));
    const TokensFixture by_verb("finetune");
    succeeded(by_verb.finetune("run", balanced));
    DOCTEST_CHECK(by_verb.weights("run") == fixture.weights("run"));
    DOCTEST_CHECK_FALSE(std::filesystem::exists(fixture / "plain/model/calibration.json"));

    write_file(fixture / "regions.bed", "chr22\t17030000\t17031000\tx\n");
    succeeded(fixture.predict("calibrated.tsv"));
    std::filesystem::rename(file, fixture / "calibration.json");
    check_said(fixture.predict("lost.tsv"), 3,
               "calibration.json: is missing, and config.json says that scores are calibrated: copy "
               "calibration.json, too");
    Json config = read_json(fixture / "run/model/config.json");  // as earlier versions wrote it
    DOCTEST_CHECK(config["bigbird_dna"]["task_model"].erase("calibrated") == 1);
    write_file(fixture / "run/model/config.json", config.dump());
    succeeded(fixture.predict("plain.tsv"));
    DOCTEST_CHECK(read_file(fixture / "calibrated.tsv") != read_file(fixture / "plain.tsv"));
    write_file(file, R"({"format": 1, "temperature": 1, "biases": [0, 0, 0]})");
    check_said(fixture.predict("other.tsv"), 3, "calibration.json: was fitted for another kind of model");
}

DOCTEST_TEST_CASE("tokens: a run that was stopped goes on exactly, two processes train as one") {
    const TokensFixture fixture;
    succeeded(fixture.finetune("run"));
    DOCTEST_CHECK(fixture.finetune("cut", {"--max-hours", "1e-9"}).code == 75);
    succeeded(fixture.finetune("cut"));
    DOCTEST_CHECK(fixture.weights("cut") == fixture.weights("run"));
    check_said(fixture.finetune("cut", {"--positive-weight", "balanced", "--calibration", "validation"}), 2,
               "--label-weights is");
    const ProgramResult two = succeeded(fixture.finetune("two", {"--processes", "2"}));
    const auto last_loss = [&](const char* run) { return values_of(fixture / run, {"eval_loss"}).back(); };
    DOCTEST_CHECK(last_loss("two") == doctest::Approx(last_loss("run")).epsilon(1e-4));
    const auto calibrated_loss = [&](const std::string& run) {
        return read_json(fixture / (run + "/model/calibration.json"))["cross_entropy_after"].get<double>();
    };
    DOCTEST_CHECK(calibrated_loss("two") == doctest::Approx(calibrated_loss("run")).epsilon(1e-4));
    DOCTEST_CHECK(calibrated_loss("cut") == calibrated_loss("run"));
}

DOCTEST_TEST_CASE("tokens: labels that cannot be used are code 3 and one sentence") {
    const TokensFixture fixture;
    const std::string bed = fixture / "labels.bed";
    const auto refusal = [&](const std::string& text) {
        write_file(bed, text);
        const ProgramResult result = fixture.finetune("bad", {}, bed);
        DOCTEST_CHECK(result.code == 3);
        return result.err;
    };
    DOCTEST_CHECK(
        refusal("22\t17000000\t17000100\texon\n22\t17000050\t17000200\tintron\n")
            .ends_with(error(bed + ":2: 'intron' at 22:17000050-17000200 overlaps 'exon' of line 1: a "
                                   "base has one label")));
    DOCTEST_CHECK(
        refusal("22\t17000000\t17000100\n")
            .ends_with(error(bed + ":1: has no label in column 4: a row is contig, start, end, label")));
    DOCTEST_CHECK(refusal("22\t21999990\t22000001\texon\n")
                      .ends_with(error(bed + ":1: end 22000001 is past the end of contig '22', which has "
                                             "22000000 bases")));
    DOCTEST_CHECK(
        refusal("chrZ\t10\t20\texon\n").ends_with(error(bed + ":1: contig 'chrZ' is not in the reference")));
    DOCTEST_CHECK(!std::filesystem::exists(fixture / "bad"));
}
