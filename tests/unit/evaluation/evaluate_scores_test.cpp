// SPDX-License-Identifier: Apache-2.0
#include "support/captured_log.hpp"
#include "support/temp_dir.hpp"
#include "support/testing.hpp"
#include "unit/examples/change_example.hpp"
#include "unit/examples/example_folder.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/evaluation/evaluation_report.hpp"

using namespace bigbird;
using namespace bigbird::rows;
using namespace bigbird::examples;
using namespace bigbird::evaluation;

namespace {

EvaluationRequest request_of(const std::filesystem::path& examples, std::vector<ScoreFile> scores,
                             Task task) {
    EvaluationRequest request;
    request.scores = std::move(scores);
    request.examples = examples;
    request.task = task;
    request.options.resamples = 30;
    request.options.block_size = 20'000;
    return request;
}

/// The table's rows with `change` made to each line of scores.
void rewrite(const std::filesystem::path& from, const std::filesystem::path& to,
             const std::function<void(std::vector<float>&)>& change) {
    ScoreReader reader(from);
    const auto table = testing::score_table(to, reader.columns());
    ScoreRow row;
    std::vector<float> values;
    while (reader.next(row, values)) {
        change(values);
        const std::vector<Field> head{row.contig, row.begin,  row.end,    row.name,
                                      row.score,  row.strand, row.status, row.n_fraction};
        table->write(head, values);
    }
    table->commit();
}

}  // namespace

DOCTEST_TEST_CASE("evaluate_scores: files are named, or called by their names") {
    const auto files = parse_score_files({"big=a/x.tsv", "b/small.tsv.gz", "./odd=folder/s.tsv"});
    DOCTEST_CHECK(files[0].name == "big");
    DOCTEST_CHECK(files[0].path == "a/x.tsv");
    DOCTEST_CHECK(files[1].name == "small");
    DOCTEST_CHECK(files[2].name == "s");
    DOCTEST_CHECK(testing::message_of<ConfigError>([] {
                      parse_score_files({"a/s.tsv", "b/s.tsv"});
                  }) == "--scores: two files are called 's'; name them, NAME=FILE");
}

DOCTEST_TEST_CASE("evaluate_scores: a file beside itself differs by nothing, one beside noise by much") {
    const testing::TempDir folder;
    const testing::ScoredBins bins(folder / "e", folder / "s.tsv", 300);
    Rng rng(9);
    rewrite(folder / "s.tsv", folder / "noise.tsv", [&](std::vector<float>& values) {
        for (float& value : values)
            value = static_cast<float>(rng.uniform());
    });
    const EvaluationReport report = evaluate_scores(request_of(
        folder / "e", {{"a", folder / "s.tsv"}, {"same", folder / "s.tsv"}, {"noise", folder / "noise.tsv"}},
        Task::chromatin));
    DOCTEST_REQUIRE(report.files.size() == 3);
    for (const GroupFigures& group : report.files[1].difference->groups) {
        for (const auto& [name, figure] : figures_of(group)) {
            DOCTEST_CHECK(figure->value == 0);
            if (figure->low) DOCTEST_CHECK((*figure->low == 0 && *figure->high == 0));
        }
    }
    const Figure& difference = report.files[2].difference->groups[0].mean_roc_auc;
    DOCTEST_CHECK(*difference.value ==
                  doctest::Approx(*report.files[2].evaluation.groups[0].mean_roc_auc.value -
                                  *report.files[0].evaluation.groups[0].mean_roc_auc.value));
    DOCTEST_CHECK(*difference.high < 0);
    const Json json = to_json(report);
    DOCTEST_CHECK(json["others"][1]["name"] == "noise");
    DOCTEST_CHECK(json["others"][1]["difference"]["all"]["auroc_mean"].get<double>() < 0);
    const std::string tsv = to_tsv(report);
    DOCTEST_CHECK(tsv.find("\tauroc:same\tauprc:same\tauroc:noise\tauprc:noise\n") != std::string::npos);
    DOCTEST_CHECK(tsv.find("##difference noise all\tauroc_mean=-0.") != std::string::npos);
}

DOCTEST_TEST_CASE("evaluate_scores: files are compared on the rows and labels that all have") {
    const testing::TempDir folder;
    const testing::ScoredBins bins(folder / "e", folder / "s.tsv", 300);
    int line = 0;
    rewrite(folder / "s.tsv", folder / "gaps.tsv", [&](std::vector<float>& values) {
        if (++line % 10 == 0) values.assign(values.size(), std::numeric_limits<float>::quiet_NaN());
    });
    const testing::CapturedLog log;
    const EvaluationReport report = evaluate_scores(
        request_of(folder / "e", {{"a", folder / "s.tsv"}, {"gaps", folder / "gaps.tsv"}}, Task::chromatin));
    DOCTEST_CHECK(report.files[0].evaluation.rows == 243);
    DOCTEST_CHECK(report.files[1].evaluation.rows == 243);
    DOCTEST_CHECK(*report.files[1].difference->labels[0].roc_auc.value == 0);
    DOCTEST_CHECK(log.text().find("compared on the 243 rows and 4 labels") != std::string::npos);
}

DOCTEST_TEST_CASE("evaluate_scores: a threshold is chosen on validation alone") {
    const testing::TempDir folder;
    const testing::ScoredPromoters promoters(folder / "e", folder / "s.tsv", 40);
    EvaluationRequest request = request_of(folder / "e", {{"s", folder / "s.tsv"}}, Task::promoter);
    request.threshold.kind = ThresholdRule::Kind::best_f1;
    DOCTEST_CHECK(testing::message_of<ConfigError>([&] {
                      evaluate_scores(request);
                  }).find("of which the examples have none") != std::string::npos);
    // half of the promoters become validation
    std::string rows = testing::read_file(folder / "e/sequences.bed");
    for (int i = 0; i < 40; ++i) {
        const std::size_t at = rows.find("\ttest\t");
        rows.replace(at, 6, "\tvalidation\t");
    }
    testing::change_example(folder / "e/sequences.bed", rows);
    Json manifest = read_json(folder / "e/manifest.json");
    manifest["splits"] = {{"train", 0}, {"validation", 40}, {"test", 40}};
    write_json(folder / "e/manifest.json", manifest, Overwrite::allow);
    const EvaluationReport report = evaluate_scores(request);
    DOCTEST_CHECK(report.files[0].evaluation.rows == 40);
    request.threshold = {};
    const EvaluationReport by_default = evaluate_scores(request);
    DOCTEST_CHECK(by_default.files[0].evaluation.at_threshold->threshold ==
                  report.files[0].evaluation.at_threshold->threshold);
    const auto best = best_threshold({promoters.scores.data(), 40}, {promoters.truths.data(), 40},
                                     ThresholdRule::Kind::best_f1);
    DOCTEST_CHECK(report.files[0].evaluation.at_threshold->threshold == best->threshold);
    DOCTEST_CHECK(report.about["parameters"]["threshold_rule"] == "best F1 on validation");
}

DOCTEST_TEST_CASE("evaluate_scores: the threshold is 0.5 where no rows of validation are scored") {
    const testing::TempDir folder;
    const testing::ScoredPromoters promoters(folder / "e", folder / "s.tsv", 10);
    const testing::CapturedLog log;
    const EvaluationReport report =
        evaluate_scores(request_of(folder / "e", {{"s", folder / "s.tsv"}}, Task::promoter));
    DOCTEST_CHECK(report.files[0].evaluation.at_threshold->threshold == 0.5);
    DOCTEST_CHECK(log.text().find("s: threshold 0.5, since no rows of validation are scored on which") !=
                  std::string::npos);
}

DOCTEST_TEST_CASE(
    "evaluate_scores: a report says what its scores were made from, and other negatives are said") {
    const testing::TempDir folder;
    const testing::ScoredPromoters promoters(folder / "e", folder / "s.tsv", 10);
    const std::string table = testing::read_file(folder / "s.tsv");
    testing::write_file(folder / "s.tsv",
                        "##model_sha256=a\n##model_sha256=b\n##reverse_complement=average\n"
                        "##negatives=genomic\n" +
                            table);
    const testing::CapturedLog log;
    const EvaluationReport report =
        evaluate_scores(request_of(folder / "e", {{"s", folder / "s.tsv"}}, Task::promoter));
    DOCTEST_CHECK(report.about["scores"]["s"]["model_sha256"] == "a,b");
    DOCTEST_CHECK(report.about["scores"]["s"]["reverse_complement"] == "average");
    DOCTEST_CHECK(log.text().find("warning: the model learnt from genomic negatives, the examples have "
                                  "permuted ones\n") != std::string::npos);
}

DOCTEST_TEST_CASE("evaluate_scores: how many negatives build-chromatin drew is no kind of negatives") {
    const testing::TempDir folder;
    const testing::ScoredBins bins(folder / "e", folder / "s.tsv", 300);
    Json manifest = read_json(folder / "e/manifest.json");
    manifest["parameters"]["negatives"] = 1.0;
    write_json(folder / "e/manifest.json", manifest, Overwrite::allow);
    const EvaluationReport report =
        evaluate_scores(request_of(folder / "e", {{"s", folder / "s.tsv"}}, Task::chromatin));
    DOCTEST_CHECK_FALSE(report.about.contains("negatives"));
    DOCTEST_CHECK(to_html(report).find("Negatives") == std::string::npos);
}

DOCTEST_TEST_CASE("evaluate_scores: DeepSEA's figures stand beside labels of its names") {
    const testing::TempDir folder;
    const testing::ScoredBins bins(folder / "e", folder / "s.tsv", 300);
    EvaluationRequest request = request_of(folder / "e", {{"s", folder / "s.tsv"}}, Task::chromatin);
    request.published = true;
    DOCTEST_CHECK(evaluate_scores(request).published.empty());
    std::string labels = testing::read_file(folder / "e/labels.tsv");
    labels.replace(labels.find("\tA\t"), 3, "\tK562|Bach1|None\t");
    testing::change_example(folder / "e/labels.tsv", labels);
    std::string table = testing::read_file(folder / "s.tsv");
    table.replace(table.find("\tA\t"), 3, "\tK562|Bach1|None\t");
    testing::write_file(folder / "s.tsv", table);
    const EvaluationReport report = evaluate_scores(request);
    const Json json = to_json(report);
    DOCTEST_CHECK(json["labels"][0]["deepsea_auroc"].get<double>() == doctest::Approx(0.950839));
    DOCTEST_CHECK(json["deepsea"][0]["labels"] == 1);
    DOCTEST_CHECK(to_tsv(report).find("\tdeepsea_auroc\tdeepsea_auprc\n") != std::string::npos);
}
