// SPDX-License-Identifier: Apache-2.0
#include "bigbird/evaluation/evaluation_report.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"
#include "unit/examples/example_folder.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/rows/text_fields.hpp"

#include <algorithm>

using namespace bigbird;
using namespace bigbird::rows;
using namespace bigbird::examples;
using namespace bigbird::evaluation;

namespace {

EvaluationRequest request_of(const testing::TempDir& folder, Task task) {
    EvaluationRequest request;
    request.scores = {{"s", folder / "s.tsv"}};
    request.examples = folder / "e";
    request.task = task;
    request.options.resamples = 20;
    request.options.block_size = 20'000;
    return request;
}

}  // namespace

DOCTEST_TEST_CASE(
    "evaluation_report: JSON holds every label and group, null where undefined, and what it depends on") {
    const testing::TempDir folder;
    const testing::ScoredBins bins(folder / "e", folder / "s.tsv", 300);
    const EvaluationReport report = evaluate_scores(request_of(folder, Task::chromatin));
    write_report(report, folder / "r.json", Overwrite::refuse)->commit();
    const Json json = read_json(folder / "r.json");
    DOCTEST_CHECK(json["format"] == "bigbird-dna evaluation");
    DOCTEST_CHECK(json["split"] == "test");
    DOCTEST_CHECK(json["rows"] == 270);
    DOCTEST_CHECK(json["parameters"]["block_size"] == 20'000);
    DOCTEST_CHECK(json["inputs"]["scores"].get<std::string>().size() == 64);
    DOCTEST_REQUIRE(json["labels"].size() == 4);
    DOCTEST_CHECK(json["labels"][2]["name"] == "C");
    DOCTEST_CHECK(json["labels"][2]["auroc"].is_null());
    DOCTEST_CHECK(json["labels"][2]["auroc_interval"].is_null());
    DOCTEST_CHECK(json["labels"][0]["auroc_interval"].size() == 2);
    DOCTEST_CHECK(json["groups"][0]["group"] == "all");
    DOCTEST_CHECK(json["groups"][0]["defined"] == 3);
    DOCTEST_CHECK(json["groups"][0]["auroc_mean"].is_number());
    double rows = 0;
    for (const Json& bin : json["reliability"]["bins"])
        rows += bin["rows"].get<double>();
    DOCTEST_CHECK(rows == 3 * 270);  // of the labels that are summarised
    DOCTEST_CHECK(json["reliability"]["brier"].get<double>() > 0);
}

DOCTEST_TEST_CASE("evaluation_report: TSV has a line a label and NA where undefined") {
    const testing::TempDir folder;
    const testing::ScoredBins bins(folder / "e", folder / "s.tsv", 300);
    const EvaluationReport report = evaluate_scores(request_of(folder, Task::chromatin));
    write_report(report, folder / "r.tsv", Overwrite::refuse)->commit();
    std::vector<std::string> table;
    const std::string text = testing::read_file(folder / "r.tsv");
    for (const auto line : split_fields(text, '\n'))
        if (!line.starts_with("##") && !line.empty()) table.emplace_back(line);
    DOCTEST_REQUIRE(table.size() == 5);
    DOCTEST_CHECK(table[0] ==
                  "index\tgroup\tname\tpositives\tbase_rate\tauroc\tauroc_low\tauroc_high\tauprc\tauprc_"
                  "low\tauprc_high");
    DOCTEST_CHECK(table[3] == "2\tHM\tC\t0\t0\tNA\tNA\tNA\tNA\tNA\tNA");
    DOCTEST_CHECK(text.find("##group all\tlabels=4\tdefined=3\tauroc_mean=0.") != std::string::npos);
    DOCTEST_CHECK(text.find("##split=test\n") != std::string::npos);
    DOCTEST_CHECK(text.find("\n##reliability s={\"brier\":0.") != std::string::npos);
}

DOCTEST_TEST_CASE("evaluation_report: promoters name their kind of negatives") {
    const testing::TempDir folder;
    const testing::ScoredPromoters promoters(folder / "e", folder / "s.tsv", 40);
    const EvaluationReport report = evaluate_scores(request_of(folder, Task::promoter));
    const Json json = to_json(report);
    DOCTEST_CHECK(json["negatives"] == "permuted");
    DOCTEST_CHECK(json["promoter"]["f1"].is_number());
    DOCTEST_CHECK(json["promoter"]["positives"] == 40);
    DOCTEST_CHECK(
        json["promoter"]["true_positives"].get<int>() + json["promoter"]["false_negatives"].get<int>() == 40);
    DOCTEST_CHECK(to_tsv(report).find("\nfigure\tvalue\tlow\thigh\nauroc\t0.") != std::string::npos);
    bool said = false;
    for (const std::string& line : to_lines(report))
        said = said || line == "40 positives, negatives: permuted";
    DOCTEST_CHECK(said);
}

DOCTEST_TEST_CASE("evaluation_report: examples of the other task are refused") {
    const testing::TempDir folder;
    const testing::ScoredPromoters promoters(folder / "e", folder / "s.tsv", 4);
    DOCTEST_CHECK(testing::message_of<InputError>([&] {
                      evaluate_scores(request_of(folder, Task::chromatin));
                  }) == (folder / "e").string() + ": holds promoter examples; use evaluate-promoter");
}

namespace {

std::string page_of(const testing::TempDir& folder, Task task, std::vector<ScoreFile> scores) {
    EvaluationRequest request = request_of(folder, task);
    request.scores = std::move(scores);
    request.options = {.resamples = 10};
    return to_html(evaluate_scores(request));
}

std::int64_t count(const std::string& text, const std::string& part) {
    std::int64_t found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
        ++found;
    return found;
}

}  // namespace

DOCTEST_TEST_CASE(
    "evaluation_html: chromatin has groups, pictures and a row a label, and needs no other file") {
    const testing::TempDir folder;
    const testing::ScoredBins bins(folder / "e", folder / "s.tsv", 300);
    const std::string page =
        page_of(folder, Task::chromatin, {{"a<b", folder / "s.tsv"}, {"other", folder / "s.tsv"}});
    DOCTEST_CHECK(page.starts_with("<!doctype html>"));
    DOCTEST_CHECK(page.find("a&lt;b") != std::string::npos);
    DOCTEST_CHECK(page.find("a<b") == std::string::npos);
    // Three groups, the two files, reliability, precision and recall on average and of each of the three
    // labels with positives.
    DOCTEST_CHECK(count(page, "<svg ") == 9);
    DOCTEST_CHECK(page.find("<th>AUROC other</th><th>AUPRC other</th>") != std::string::npos);
    DOCTEST_CHECK(page.find("rows per point") != std::string::npos);
    DOCTEST_CHECK(
        count(page, "<td class=text>other \u2212 a&lt;b</td><td></td><td>0.000 [0.000, 0.000]</td>") == 3);
    DOCTEST_CHECK(count(page.substr(page.find("<table class='labels sortable'>")), "<tr>") == 5);
    DOCTEST_CHECK(count(page, "sortable'>") + count(page, "class=sortable>") == 2);
    for (const char* foreign : {"http", "src=", "@import", "url("})
        DOCTEST_CHECK(page.find(foreign) == std::string::npos);
    DOCTEST_CHECK(count(page, "<svg ") == count(page, "</svg>"));
    DOCTEST_CHECK(page ==
                  page_of(folder, Task::chromatin, {{"a<b", folder / "s.tsv"}, {"other", folder / "s.tsv"}}));
    DOCTEST_CHECK(page.find(folder.path().string()) == std::string::npos);
}

DOCTEST_TEST_CASE("evaluation_html: promoters have curves and name their negatives") {
    const testing::TempDir folder;
    const testing::ScoredPromoters promoters(folder / "e", folder / "s.tsv", 40);
    const std::string page = page_of(folder, Task::promoter, {{"s", folder / "s.tsv"}});
    DOCTEST_CHECK(count(page, "<svg ") == 3);
    DOCTEST_CHECK(count(page, "<polyline ") == 3);
    DOCTEST_CHECK(page.find("Negatives: permuted") != std::string::npos);
    DOCTEST_CHECK(page.find("<td class=text>mcc</td>") != std::string::npos);
    const std::string two =
        page_of(folder, Task::promoter, {{"s", folder / "s.tsv"}, {"again", folder / "s.tsv"}});
    DOCTEST_CHECK(two.find("<th>again \u2212 s</th>") != std::string::npos);
    DOCTEST_CHECK(count(two, "<td>0.000 [0.000, 0.000]</td>") == 7);
    DOCTEST_CHECK(two.find("These thresholds differ") == std::string::npos);
}

DOCTEST_TEST_CASE("evaluation_html: files compared at different thresholds say so, and how each was chosen") {
    const testing::TempDir folder;
    const testing::ScoredPromoters promoters(folder / "e", folder / "s.tsv", 40);
    EvaluationRequest request = request_of(folder, Task::promoter);
    request.scores.push_back({"again", folder / "s.tsv"});
    request.options = {.resamples = 0};
    EvaluationReport report = evaluate_scores(request);
    DOCTEST_CHECK_FALSE(report.files[0].threshold_rule.empty());
    report.files[0].evaluation.at_threshold->threshold = 0.5;
    report.files[1].evaluation.at_threshold->threshold = 0.296;
    report.files[1].threshold_rule = "best F1 on validation";
    const std::string page = to_html(report);
    DOCTEST_CHECK(page.find("again 0.296 (best F1 on validation). <b>These thresholds differ</b>") !=
                  std::string::npos);
}
