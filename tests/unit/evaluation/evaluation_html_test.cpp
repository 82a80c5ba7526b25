// SPDX-License-Identifier: Apache-2.0
#include "bigbird/evaluation/evaluation_html.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"
#include "unit/examples/example_folder.hpp"

#include "bigbird/evaluation/evaluate_scores.hpp"

#include <algorithm>

using namespace bigbird;
using namespace bigbird::examples;
using namespace bigbird::evaluation;

namespace {

std::string page_of(const testing::TempDir& folder, Task task, std::vector<ScoreFile> scores) {
    EvaluationRequest request;
    request.scores = std::move(scores);
    request.examples = folder / "e";
    request.task = task;
    request.options.resamples = 10;
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
    EvaluationRequest request;
    request.scores = {{"s", folder / "s.tsv"}, {"again", folder / "s.tsv"}};
    request.examples = folder / "e";
    request.task = Task::promoter;
    request.options.resamples = 0;
    EvaluationReport report = evaluate_scores(request);
    DOCTEST_CHECK_FALSE(report.files[0].threshold_rule.empty());
    report.files[0].evaluation.at_threshold->threshold = 0.5;
    report.files[1].evaluation.at_threshold->threshold = 0.296;
    report.files[1].threshold_rule = "best F1 on validation";
    const std::string page = to_html(report);
    DOCTEST_CHECK(page.find("again 0.296 (best F1 on validation). <b>These thresholds differ</b>") !=
                  std::string::npos);
}
