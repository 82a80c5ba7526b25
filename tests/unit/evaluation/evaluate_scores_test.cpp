// SPDX-License-Identifier: Apache-2.0
#include "support/captured_log.hpp"
#include "support/temp_dir.hpp"
#include "support/testing.hpp"
#include "unit/examples/change_example.hpp"
#include "unit/examples/example_folder.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/evaluation/evaluation_report.hpp"
#include "bigbird/rows/text_fields.hpp"

#include <algorithm>

using namespace bigbird;
using namespace bigbird::rows;
using namespace bigbird::examples;
using namespace bigbird::evaluation;
namespace fs = std::filesystem;

namespace {

/// Asks for an evaluation of the examples `e` in a folder.
EvaluationRequest request_of(const testing::TempDir& folder, Task task,
                             const std::vector<ScoreFile>& others = {}) {
    EvaluationRequest request;
    request.scores = {{"s", folder / "s.tsv"}};
    request.examples = folder / "e";
    request.task = task;
    request.scores.insert(request.scores.end(), others.begin(), others.end());
    request.options.resamples = 30;
    request.options.block_size = 20'000;
    return request;
}

/// Scored bins, and what their evaluation asks for.
struct Bins {
    testing::TempDir folder;
    testing::ScoredBins bins{folder / "e", folder / "s.tsv", 300};
    EvaluationRequest request = request_of(folder, Task::chromatin);
};

struct Promoters {
    explicit Promoters(int count) : promoters(folder / "e", folder / "s.tsv", count) {}
    testing::TempDir folder;
    testing::ScoredPromoters promoters;
    EvaluationRequest request = request_of(folder, Task::promoter);
};

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
    DOCTEST_CHECK(parse_score_files({"a.pos.tsv", "a.neg.tsv"})[1].name == "a.neg");
    DOCTEST_CHECK(parse_score_files({"lr=0.1.tsv"})[0].path == "0.1.tsv");
    const testing::TempDir folder;
    testing::write_file(folder / "lr=0.1.tsv", "");
    const fs::path before = fs::current_path();
    fs::current_path(folder.path());
    const ScoreFile there = parse_score_files({"lr=0.1.tsv"})[0];
    fs::current_path(before);
    DOCTEST_CHECK(there.path == "lr=0.1.tsv");
    DOCTEST_CHECK(there.name == "lr=0.1");
    DOCTEST_CHECK(testing::message_of<ConfigError>([] {
                      parse_score_files({"a/s.tsv", "b/s.tsv"});
                  }) == "--scores: a/s.tsv and b/s.tsv are both called 's'; name them, NAME=FILE");
}

DOCTEST_TEST_CASE("evaluate_scores: a file beside itself differs by nothing, one beside noise by much") {
    Bins bins;
    Rng rng(9);
    rewrite(bins.folder / "s.tsv", bins.folder / "noise.tsv", [&](std::vector<float>& values) {
        for (float& value : values)
            value = static_cast<float>(rng.uniform());
    });
    const EvaluationReport report =
        evaluate_scores(request_of(bins.folder, Task::chromatin,
                                   {{"same", bins.folder / "s.tsv"}, {"noise", bins.folder / "noise.tsv"}}));
    DOCTEST_REQUIRE(report.files.size() == 3);
    const auto check_none = [](const Figure& figure) {
        if (figure.value) DOCTEST_CHECK(*figure.value == 0);
        if (figure.low) DOCTEST_CHECK((*figure.low == 0 && *figure.high == 0));
    };
    const Evaluation& none = *report.files[1].difference;
    for (const GroupFigures& group : none.groups)
        for (const auto& [name, figure] : figures_of(group))
            check_none(*figure);
    DOCTEST_REQUIRE(none.labels.at(0).roc_auc.value);
    for (const LabelFigures& label : none.labels) {
        check_none(label.roc_auc);
        check_none(label.average_precision);
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
    Bins bins;
    int line = 0;
    rewrite(bins.folder / "s.tsv", bins.folder / "gaps.tsv", [&](std::vector<float>& values) {
        if (++line % 10 == 0) values.assign(values.size(), std::numeric_limits<float>::quiet_NaN());
    });
    const testing::CapturedLog log;
    const EvaluationReport report =
        evaluate_scores(request_of(bins.folder, Task::chromatin, {{"gaps", bins.folder / "gaps.tsv"}}));
    DOCTEST_CHECK(report.files[0].evaluation.rows == 243);
    DOCTEST_CHECK(report.files[1].evaluation.rows == 243);
    DOCTEST_CHECK(*report.files[1].difference->labels[0].roc_auc.value == 0);
    DOCTEST_CHECK(log.text().find("compared on the 243 rows and 4 labels") != std::string::npos);
}

DOCTEST_TEST_CASE("evaluate_scores: a threshold is chosen on validation alone") {
    Promoters scored(40);
    scored.request.threshold.kind = ThresholdRule::Kind::best_f1;
    DOCTEST_CHECK(testing::message_of<ConfigError>([&] {
                      evaluate_scores(scored.request);
                  }).find("of which the examples have none") != std::string::npos);
    // half of the promoters become validation
    std::string rows = testing::read_file(scored.folder / "e/sequences.bed");
    for (int i = 0; i < 40; ++i) {
        const std::size_t at = rows.find("\ttest\t");
        rows.replace(at, 6, "\tvalidation\t");
    }
    testing::change_example(scored.folder / "e/sequences.bed", rows);
    Json manifest = read_json(scored.folder / "e/manifest.json");
    manifest["splits"] = {{"train", 0}, {"validation", 40}, {"test", 40}};
    write_json(scored.folder / "e/manifest.json", manifest, Overwrite::allow);
    const EvaluationReport report = evaluate_scores(scored.request);
    DOCTEST_CHECK(report.files[0].evaluation.rows == 40);
    scored.request.threshold = {};
    const EvaluationReport by_default = evaluate_scores(scored.request);
    DOCTEST_CHECK(by_default.files[0].evaluation.at_threshold->threshold ==
                  report.files[0].evaluation.at_threshold->threshold);
    const auto best = best_threshold({scored.promoters.scores.data(), 40},
                                     {scored.promoters.truths.data(), 40}, ThresholdRule::Kind::best_f1);
    DOCTEST_CHECK(report.files[0].evaluation.at_threshold->threshold == best->threshold);
    DOCTEST_CHECK(report.about["parameters"]["threshold_rule"] == "best F1 on validation");
}

DOCTEST_TEST_CASE("evaluate_scores: the threshold is 0.5 where no rows of validation are scored") {
    Promoters scored(10);
    const testing::CapturedLog log;
    const EvaluationReport report = evaluate_scores(scored.request);
    DOCTEST_CHECK(report.files[0].evaluation.at_threshold->threshold == 0.5);
    DOCTEST_CHECK(log.text().find("s: threshold 0.5, since no rows of validation are scored on which") !=
                  std::string::npos);
}

DOCTEST_TEST_CASE(
    "evaluate_scores: a report says what its scores were made from, and other negatives are said") {
    Promoters scored(10);
    const std::string table = testing::read_file(scored.folder / "s.tsv");
    testing::write_file(scored.folder / "s.tsv",
                        "##model_sha256=a\n##model_sha256=b\n##reverse_complement=average\n"
                        "##negatives=genomic\n" +
                            table);
    const testing::CapturedLog log;
    const EvaluationReport report = evaluate_scores(scored.request);
    DOCTEST_CHECK(report.about["scores"]["s"]["model_sha256"] == "a,b");
    DOCTEST_CHECK(report.about["scores"]["s"]["reverse_complement"] == "average");
    DOCTEST_CHECK(log.text().find("warning: the model learnt from genomic negatives, the examples have "
                                  "permuted ones\n") != std::string::npos);
}

DOCTEST_TEST_CASE("evaluate_scores: how many negatives build-chromatin drew is no kind of negatives") {
    Bins bins;
    Json manifest = read_json(bins.folder / "e/manifest.json");
    manifest["parameters"]["negatives"] = 1.0;
    write_json(bins.folder / "e/manifest.json", manifest, Overwrite::allow);
    const EvaluationReport report = evaluate_scores(bins.request);
    DOCTEST_CHECK_FALSE(report.about.contains("negatives"));
    DOCTEST_CHECK(to_html(report).find("Negatives") == std::string::npos);
}

DOCTEST_TEST_CASE(
    "evaluate_scores: DeepSEA's figures are beside labels of its names, if there are 919 labels") {
    const Bins few;
    DOCTEST_CHECK(evaluate_scores(few.request).published.empty());
    const testing::TempDir folder;
    fs::create_directory(folder / "e");
    std::vector<Label> labels;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < deepsea_labels().size(); ++i) {
        names.push_back(i == 0 ? "K562|Bach1|None" : "mine" + std::to_string(i));
        labels.push_back({"TF", names.back(), -1});
    }
    ExampleWriter writer(folder / "e", Task::chromatin, {-100, 100}, names.size());
    const auto table = testing::score_table(folder / "s.tsv", names);
    for (int i = 0; i < 20; ++i) {
        ExampleRow row;
        row.where = {"22", i * 1000, i * 1000 + 200};
        row.split = Split::test;
        std::vector<std::uint8_t> bits((names.size() + 7) / 8, 0);
        bits[0] = static_cast<std::uint8_t>(i % 2);
        writer.add(row, bits);
        const std::vector<float> scores(names.size(), static_cast<float>(i) / 20);
        table->write(fields_of({.where = row.where}), scores);
    }
    table->commit();
    TwoBitWriter store(folder / "e/sequences.2bit", {"22"}, false);
    store.add("22", std::string(500, 'A'));
    store.finish();
    writer.finish(LabelTable(labels), Json::object());
    const EvaluationReport report = evaluate_scores(request_of(folder, Task::chromatin));
    const Json json = to_json(report);
    DOCTEST_CHECK(json["labels"][0]["deepsea_auroc"].get<double>() == doctest::Approx(0.950839));
    DOCTEST_CHECK(json["deepsea"][0]["labels"] == 1);
    DOCTEST_CHECK(to_tsv(report).find("\tdeepsea_auroc\tdeepsea_auprc\n") != std::string::npos);
}

DOCTEST_TEST_CASE(
    "evaluation_report: JSON holds every label and group, null where undefined, and what it depends on") {
    Bins bins;
    const EvaluationReport report = evaluate_scores(bins.request);
    write_report(report, bins.folder / "r.json", Overwrite::refuse)->commit();
    const Json json = read_json(bins.folder / "r.json");
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
    Bins bins;
    const EvaluationReport report = evaluate_scores(bins.request);
    write_report(report, bins.folder / "r.tsv", Overwrite::refuse)->commit();
    std::vector<std::string> table;
    const std::string text = testing::read_file(bins.folder / "r.tsv");
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
    Promoters scored(40);
    const EvaluationReport report = evaluate_scores(scored.request);
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
    Promoters scored(4);
    DOCTEST_CHECK(testing::message_of<InputError>([&] {
                      evaluate_scores(request_of(scored.folder, Task::chromatin));
                  }) == (scored.folder / "e").string() + ": holds promoter examples; use evaluate-promoter");
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
    Bins bins;
    const std::string page = page_of(bins.folder, Task::chromatin,
                                     {{"a<b", bins.folder / "s.tsv"}, {"other", bins.folder / "s.tsv"}});
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
    DOCTEST_CHECK(page == page_of(bins.folder, Task::chromatin,
                                  {{"a<b", bins.folder / "s.tsv"}, {"other", bins.folder / "s.tsv"}}));
    DOCTEST_CHECK(page.find(bins.folder.path().string()) == std::string::npos);
}

DOCTEST_TEST_CASE("evaluation_html: promoters have curves and name their negatives") {
    Promoters scored(40);
    const std::string page = page_of(scored.folder, Task::promoter, {{"s", scored.folder / "s.tsv"}});
    DOCTEST_CHECK(count(page, "<svg ") == 3);
    DOCTEST_CHECK(count(page, "<polyline ") == 3);
    DOCTEST_CHECK(page.find("Negatives: permuted") != std::string::npos);
    DOCTEST_CHECK(page.find("<td class=text>mcc</td>") != std::string::npos);
    const std::string two = page_of(scored.folder, Task::promoter,
                                    {{"s", scored.folder / "s.tsv"}, {"again", scored.folder / "s.tsv"}});
    DOCTEST_CHECK(two.find("<th>again \u2212 s</th>") != std::string::npos);
    DOCTEST_CHECK(count(two, "<td>0.000 [0.000, 0.000]</td>") == 7);
    DOCTEST_CHECK(two.find("These thresholds differ") == std::string::npos);
}

DOCTEST_TEST_CASE("evaluation_html: files compared at different thresholds say so, and how each was chosen") {
    Promoters scored(40);
    scored.request.scores.push_back({"again", scored.folder / "s.tsv"});
    scored.request.options = {.resamples = 0};
    EvaluationReport report = evaluate_scores(scored.request);
    DOCTEST_CHECK_FALSE(report.files[0].threshold_rule.empty());
    report.files[0].evaluation.at_threshold->threshold = 0.5;
    report.files[1].evaluation.at_threshold->threshold = 0.296;
    report.files[1].threshold_rule = "best F1 on validation";
    const std::string page = to_html(report);
    DOCTEST_CHECK(page.find("again 0.296 (best F1 on validation). <b>These thresholds differ</b>") !=
                  std::string::npos);
}
