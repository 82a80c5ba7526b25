// SPDX-License-Identifier: Apache-2.0
#include "support/captured_log.hpp"
#include "support/confusion.hpp"
#include "support/temp_dir.hpp"
#include "support/testing.hpp"
#include "unit/examples/change_example.hpp"
#include "unit/examples/example_folder.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/statistics/bootstrap_interval.hpp"
#include "bigbird/evaluation/evaluation_report.hpp"
#include "bigbird/evaluation/plot.hpp"
#include "bigbird/rows/text_fields.hpp"

#include <algorithm>

using namespace bigbird;
using namespace bigbird::rows;
using namespace bigbird::examples;
using namespace bigbird::evaluation;
namespace fs = std::filesystem;

namespace {

/// Every pair of a positive and a negative, one by one.
std::optional<double> pairwise_auc(const std::vector<float>& scores,
                                   const std::vector<std::uint8_t>& truths) {
    double right = 0, pairs = 0;
    for (std::size_t i = 0; i < scores.size(); ++i) {
        for (std::size_t j = 0; j < scores.size(); ++j) {
            if (truths[i] == 1 && truths[j] == 0) {
                right += scores[i] > scores[j] ? 1.0 : scores[i] == scores[j] ? 0.5 : 0.0;
                pairs += 1;
            }
        }
    }
    return pairs > 0 ? std::optional(right / pairs) : std::nullopt;
}

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

    EvaluationReport with_resamples(int resamples) {
        request.options.resamples = resamples;
        request.options.seed = 9;
        return evaluate(request);
    }
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

DOCTEST_TEST_CASE("evaluation: figures per label and group, undefined where there is no positive") {
    Bins fixture;
    const EvaluationReport report = fixture.with_resamples(0);
    const Figures& figures = report.files[0].figures;
    DOCTEST_CHECK(report.rows == 270);
    DOCTEST_REQUIRE(figures.each.size() == 4);
    std::vector<double> areas;
    for (const std::size_t l : {0U, 1U, 3U}) {
        const double expected = *pairwise_auc(fixture.bins.scores[l], fixture.bins.truths[l]);
        DOCTEST_CHECK(*figures.each[l][0].value == doctest::Approx(expected).epsilon(1e-12));
        DOCTEST_CHECK(!figures.each[l][0].low);
        areas.push_back(expected);
    }
    DOCTEST_CHECK(!figures.each[2][0].value);
    DOCTEST_CHECK(!figures.each[2][1].value);
    DOCTEST_REQUIRE(report.groups.size() == 3);
    DOCTEST_CHECK(report.groups[0].name == "all");
    DOCTEST_CHECK(report.groups[0].labels == 4);
    DOCTEST_CHECK(report.groups[0].members == std::vector<std::size_t>{0, 1, 3});
    DOCTEST_REQUIRE(figures.all.size() == 12);
    DOCTEST_CHECK(*figures.all[0].value == doctest::Approx((areas[0] + areas[1] + areas[2]) / 3));
    std::sort(areas.begin(), areas.end());
    DOCTEST_CHECK(*figures.all[1].value == doctest::Approx(areas[1]));
    DOCTEST_CHECK(report.groups[2].name == "HM");
    DOCTEST_CHECK(report.groups[2].members.size() == 1);
}

DOCTEST_TEST_CASE("evaluation: labels with few positives do not count in means") {
    Bins fixture;
    const auto rare = std::count(fixture.bins.truths[1].begin(), fixture.bins.truths[1].end(), 1);
    DOCTEST_REQUIRE(rare > 0);
    fixture.request.options.min_positives = rare + 1;
    const EvaluationReport report = fixture.with_resamples(0);
    const Figures& figures = report.files[0].figures;
    DOCTEST_CHECK(report.groups[1].members.size() == 1);
    DOCTEST_CHECK(*figures.all[4].value == *figures.each[0][0].value);
    DOCTEST_CHECK(figures.each[1][0].value);  // still told
    DOCTEST_CHECK(!report.columns[1].summarised);
}

// The same draws of blocks, but rows written out as often as drawn.
DOCTEST_TEST_CASE("evaluation: intervals come from resampled blocks") {
    Bins fixture;
    const int resamples = 60;
    const EvaluationReport report = fixture.with_resamples(resamples);
    DOCTEST_REQUIRE(report.units == 15);
    std::vector<double> areas, means;
    for (int b = 0; b < resamples; ++b) {
        Rng rng = Rng(9).split("bootstrap").split(static_cast<std::uint64_t>(b));
        std::vector<std::vector<float>> scores(2);
        std::vector<std::vector<std::uint8_t>> truths(2);
        for (int draw = 0; draw < 15; ++draw) {
            const std::int64_t block = rng.between(0, 14);
            for (std::size_t i = 0; i < fixture.bins.begins.size(); ++i) {
                if (fixture.bins.begins[i] / 20'000 != block) continue;
                for (std::size_t l = 0; l < 2; ++l) {
                    scores[l].push_back(fixture.bins.scores[l][i]);
                    truths[l].push_back(fixture.bins.truths[l][i]);
                }
            }
        }
        areas.push_back(*pairwise_auc(scores[0], truths[0]));
        const auto second = pairwise_auc(scores[1], truths[1]);
        means.push_back(second ? (areas.back() + *second) / 2 : areas.back());
    }
    const Figure &label = report.files[0].figures.each[0][0], &mean = report.files[0].figures.all[4];
    const ConfidenceInterval of_label = bias_corrected_interval(*label.value, areas);
    const ConfidenceInterval of_mean = bias_corrected_interval(*mean.value, means);
    DOCTEST_CHECK(*label.low == doctest::Approx(of_label.low).epsilon(1e-12));
    DOCTEST_CHECK(*label.high == doctest::Approx(of_label.high).epsilon(1e-12));
    DOCTEST_CHECK(*mean.low == doctest::Approx(of_mean.low).epsilon(1e-12));
    DOCTEST_CHECK(*mean.high == doctest::Approx(of_mean.high).epsilon(1e-12));
    DOCTEST_CHECK(*label.low < *label.value);
    DOCTEST_CHECK(!report.files[0].figures.each[2][0].low);
}

DOCTEST_TEST_CASE(
    "evaluation: the same for any number of threads, others for another seed, one block has no interval") {
    Bins fixture;
    const auto low = [&](std::uint64_t seed, int threads) {
        fixture.request.options.seed = seed;
        fixture.request.options.threads = threads;
        return evaluate(fixture.request).files[0].figures.all[2].low;
    };
    DOCTEST_REQUIRE(low(9, 1).has_value());
    DOCTEST_CHECK(low(9, 1) == low(9, 4));
    DOCTEST_CHECK(low(9, 1) != low(10, 1));
    // 300 bins of 200 bases with gaps: few blocks have no intervals, and the lines say so.
    for (const std::int64_t size : {1'000'000, 70'000, 40'000}) {
        fixture.request.options.block_size = size;
        const EvaluationReport report = evaluate(fixture.request);
        const bool enough = report.units >= fewest_blocks;
        DOCTEST_CHECK(low(9, 1).has_value() == enough);
        DOCTEST_CHECK(
            testing::holds(to_lines(report).front(),
                           enough ? ", 95 % intervals from " : ", no intervals, which need 5 blocks: only "));
    }
}

DOCTEST_TEST_CASE("evaluation: base rates have the digits that they need") {
    DOCTEST_CHECK(share_text(0.00031415) == "0.00031");
    DOCTEST_CHECK(share_text(0.0099) == "0.0099");
    DOCTEST_CHECK(share_text(0.0123) == "0.012");
    DOCTEST_CHECK(share_text(0.5) == "0.500");
    DOCTEST_CHECK(share_text(0) == "0.000");
    Bins fixture;
    EvaluationReport report = fixture.with_resamples(0);
    report.groups.front().mean_base_rate = 0.00031415;
    DOCTEST_CHECK(testing::holds(to_lines(report)[1], "base rate 0.00031"));
    DOCTEST_CHECK(testing::holds(to_html(report), "<td>0.00031</td>"));
}

DOCTEST_TEST_CASE("evaluation: columns and draws in several batches give what one pass gives") {
    constexpr std::size_t columns = 70;
    const Measure measure{
        .columns = columns,
        .names = {"sum"},
        .names_of_each = {"weight"},
        .column = [](std::size_t column) -> Measure::Column {
            return [column](Weights weights) -> FigureValues {
                return {static_cast<double>(column) + (weights.empty() ? 0.0 : 0.1 * weights[0])};
            };
        },
        .all = [](const std::vector<FigureValues>& each) -> FigureValues { return {each.back().front()}; }};
    const ResampledFigures found = resample(measure, 3, {.resamples = 50, .seed = 3, .threads = 2});
    DOCTEST_REQUIRE(found.resampled.size() == 50);
    DOCTEST_REQUIRE(found.whole.size() == columns + 1);
    for (std::size_t c = 0; c < columns; ++c)
        DOCTEST_CHECK(*found.whole[c] == static_cast<double>(c));
    for (const FigureValues& values : found.resampled) {
        DOCTEST_CHECK(*values[69] == *values[70]);
        DOCTEST_CHECK(*values[69] - *values[0] == doctest::Approx(69));  // one draw for all columns
    }
    // So many units that four draws are in memory at once.
    constexpr std::int64_t units = 1 << 22;
    const ResampledFigures of_many = resample(measure, units, {.resamples = 6, .seed = 3});
    Rng rng = Rng(3).split("bootstrap").split(5);
    int times = 0;
    for (std::int64_t i = 0; i < units; ++i)
        times += rng.between(0, units - 1) == 0 ? 1 : 0;
    DOCTEST_CHECK(*of_many.resampled.at(5)[0] == doctest::Approx(0.1 * times));
}

DOCTEST_TEST_CASE("evaluation: promoters also at a threshold") {
    Promoters scored(50);
    scored.request.threshold = {ThresholdRule::Kind::given, 0.6};
    scored.request.options.resamples = 50;
    const EvaluationReport report = evaluate(scored.request);
    const Confusion expected = testing::confusion(scored.promoters.scores, scored.promoters.truths, 0.6);
    DOCTEST_REQUIRE(report.names == std::vector<std::string>{"auroc", "auprc", "f1", "precision", "recall",
                                                             "mcc", "accuracy"});
    const std::vector<Figure>& figures = report.files[0].figures.all;
    DOCTEST_CHECK(report.files[0].confusion[1][1] == expected.true_positives);
    DOCTEST_CHECK(*figures[2].value == *expected.f1());
    DOCTEST_CHECK(*figures[2].low <= *expected.f1());
    DOCTEST_CHECK(*figures[2].high >= *expected.f1());
    DOCTEST_CHECK(*figures[5].value == *expected.mcc());
}

DOCTEST_TEST_CASE("evaluation: options that make no sense are refused") {
    EvaluationOptions options;
    options.min_positives = 0;
    DOCTEST_CHECK_THROWS_AS(options.validate(), ConfigError);
    options = {};
    options.resamples = -1;
    DOCTEST_CHECK_THROWS_AS(options.validate(), ConfigError);
    options = {};
    options.block_size = 0;
    DOCTEST_CHECK_THROWS_AS(options.validate(), ConfigError);
}

DOCTEST_TEST_CASE("evaluation: files are named, or called by their names") {
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

DOCTEST_TEST_CASE("evaluation: a file beside itself differs by nothing, one beside noise by much") {
    Bins bins;
    Rng rng(9);
    rewrite(bins.folder / "s.tsv", bins.folder / "noise.tsv", [&](std::vector<float>& values) {
        for (float& value : values)
            value = static_cast<float>(rng.uniform());
    });
    const EvaluationReport report =
        evaluate(request_of(bins.folder, Task::chromatin,
                            {{"same", bins.folder / "s.tsv"}, {"noise", bins.folder / "noise.tsv"}}));
    DOCTEST_REQUIRE(report.files.size() == 3);
    const auto check_none = [](const Figure& figure) {
        if (figure.value) DOCTEST_CHECK(*figure.value == 0);
        if (figure.low) DOCTEST_CHECK((*figure.low == 0 && *figure.high == 0));
    };
    const Figures& none = *report.files[1].difference;
    DOCTEST_REQUIRE(none.each.at(0).at(0).value);
    for (const Figure& figure : none.all)
        check_none(figure);
    for (const std::vector<Figure>& label : none.each)
        for (const Figure& figure : label)
            check_none(figure);
    const Figure& difference = report.files[2].difference->all[0];
    DOCTEST_CHECK(*difference.value == doctest::Approx(*report.files[2].figures.all[0].value -
                                                       *report.files[0].figures.all[0].value));
    DOCTEST_CHECK(*difference.high < 0);
    const Json json = to_json(report);
    DOCTEST_CHECK(json["others"][1]["name"] == "noise");
    DOCTEST_CHECK(json["others"][1]["difference"]["all"]["auroc_mean"].get<double>() < 0);
    const std::string tsv = to_tsv(report);
    DOCTEST_CHECK(tsv.find("\tauroc:same\tauprc:same\tauroc:noise\tauprc:noise\n") != std::string::npos);
    DOCTEST_CHECK(tsv.find("##difference noise all\tauroc_mean=-0.") != std::string::npos);
}

DOCTEST_TEST_CASE("evaluation: files are compared on the rows and labels that all have") {
    Bins bins;
    int line = 0;
    rewrite(bins.folder / "s.tsv", bins.folder / "gaps.tsv", [&](std::vector<float>& values) {
        if (++line % 10 == 0) values.assign(values.size(), std::numeric_limits<float>::quiet_NaN());
    });
    const testing::CapturedLog log;
    const EvaluationReport report =
        evaluate(request_of(bins.folder, Task::chromatin, {{"gaps", bins.folder / "gaps.tsv"}}));
    DOCTEST_CHECK(report.rows == 243);
    DOCTEST_CHECK(*report.files[1].difference->each[0][0].value == 0);
    DOCTEST_CHECK(log.text().find("compared on the 243 rows and 4 labels") != std::string::npos);
}

DOCTEST_TEST_CASE("evaluation: a threshold is chosen on validation only") {
    Promoters scored(40);
    scored.request.threshold.kind = ThresholdRule::Kind::best_f1;
    DOCTEST_CHECK(testing::message_of<ConfigError>([&] {
                      evaluate(scored.request);
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
    const EvaluationReport report = evaluate(scored.request);
    DOCTEST_CHECK(report.rows == 40);
    scored.request.threshold = {};
    const EvaluationReport by_default = evaluate(scored.request);
    DOCTEST_CHECK(by_default.files[0].threshold == report.files[0].threshold);
    const auto best = best_threshold({scored.promoters.scores.data(), 40},
                                     {scored.promoters.truths.data(), 40}, ThresholdRule::Kind::best_f1);
    DOCTEST_CHECK(report.files[0].threshold == best->threshold);
    DOCTEST_CHECK(report.about["parameters"]["threshold_rule"] == "best F1 on validation");
}

DOCTEST_TEST_CASE("evaluation: the threshold is 0.5 where no rows of validation are scored") {
    Promoters scored(10);
    const testing::CapturedLog log;
    const EvaluationReport report = evaluate(scored.request);
    DOCTEST_CHECK(report.files[0].threshold == 0.5);
    DOCTEST_CHECK(log.text().find("s: threshold 0.5, since no rows of validation are scored on which") !=
                  std::string::npos);
}

DOCTEST_TEST_CASE("evaluation: a report says what its scores were made from, and other negatives are said") {
    Promoters scored(10);
    const std::string table = testing::read_file(scored.folder / "s.tsv");
    testing::write_file(scored.folder / "s.tsv",
                        "##model_sha256=a\n##model_sha256=b\n##reverse_complement=average\n"
                        "##negatives=genomic\n" +
                            table);
    const testing::CapturedLog log;
    const EvaluationReport report = evaluate(scored.request);
    DOCTEST_CHECK(report.about["scores"]["s"]["model_sha256"] == "a,b");
    DOCTEST_CHECK(report.about["scores"]["s"]["reverse_complement"] == "average");
    DOCTEST_CHECK(log.text().find("warning: the model learnt from genomic negatives, the examples have "
                                  "permuted ones\n") != std::string::npos);
}

DOCTEST_TEST_CASE("evaluation: how many negatives build-chromatin drew is no kind of negatives") {
    Bins bins;
    Json manifest = read_json(bins.folder / "e/manifest.json");
    manifest["parameters"]["negatives"] = 1.0;
    write_json(bins.folder / "e/manifest.json", manifest, Overwrite::allow);
    const EvaluationReport report = evaluate(bins.request);
    DOCTEST_CHECK_FALSE(report.about.contains("negatives"));
    DOCTEST_CHECK(to_html(report).find("Negatives") == std::string::npos);
}

DOCTEST_TEST_CASE("evaluation: DeepSEA's figures stand beside labels of its names") {
    Bins bins;
    bins.request.published = true;
    DOCTEST_CHECK(evaluate(bins.request).published.empty());
    std::string labels = testing::read_file(bins.folder / "e/labels.tsv");
    labels.replace(labels.find("\tA\t"), 3, "\tK562|Bach1|None\t");
    testing::change_example(bins.folder / "e/labels.tsv", labels);
    std::string table = testing::read_file(bins.folder / "s.tsv");
    table.replace(table.find("\tA\t"), 3, "\tK562|Bach1|None\t");
    testing::write_file(bins.folder / "s.tsv", table);
    const EvaluationReport report = evaluate(bins.request);
    const Json json = to_json(report);
    DOCTEST_CHECK(json["labels"][0]["deepsea_auroc"].get<double>() == doctest::Approx(0.950839));
    DOCTEST_CHECK(json["deepsea"][0]["labels"] == 1);
    DOCTEST_CHECK(to_tsv(report).find("\tdeepsea_auroc\tdeepsea_auprc\n") != std::string::npos);
}

DOCTEST_TEST_CASE(
    "evaluation_report: JSON holds every label and group, null where undefined, and what it depends on") {
    Bins bins;
    const EvaluationReport report = evaluate(bins.request);
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
    const EvaluationReport report = evaluate(bins.request);
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
    const EvaluationReport report = evaluate(scored.request);
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
                      evaluate(request_of(scored.folder, Task::chromatin));
                  }) == (scored.folder / "e").string() + ": holds promoter examples; use evaluate-promoter");
}

namespace {

std::string page_of(const testing::TempDir& folder, Task task, std::vector<ScoreFile> scores) {
    EvaluationRequest request = request_of(folder, task);
    request.scores = std::move(scores);
    request.options = {.resamples = 10, .block_size = 20'000};
    return to_html(evaluate(request));
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
    // The two files, reliability, precision and recall on average and of each of the three labels with
    // positives.
    DOCTEST_CHECK(count(page, "<svg ") == 6);
    DOCTEST_CHECK(page.find("<th>AUROC other</th><th>AUPRC other</th>") != std::string::npos);
    DOCTEST_CHECK(page.find("rows per point") != std::string::npos);
    DOCTEST_CHECK(
        count(page, "<td class=text>other \u2212 a&lt;b</td><td></td><td>0.000 [0.000, 0.000]</td>") == 3);
    const std::string labels = page.substr(page.find("<table class='labels sortable'>"));
    DOCTEST_CHECK(count(labels.substr(0, labels.find("</table>")), "<tr>") == 5);
    // The file that others are compared with comes last.
    DOCTEST_CHECK(page.find("<th>other</th><th>a&lt;b</th><th>other \u2212 a&lt;b</th>") !=
                  std::string::npos);
    DOCTEST_CHECK(page.find("<td class=text>parameters, seed</td>") != std::string::npos);
    DOCTEST_CHECK(count(page, "sortable'>") + count(page, "class=sortable>") == 2);
    for (const char* foreign : {"http", "src=", "@import", "url("})
        DOCTEST_CHECK(page.find(foreign) == std::string::npos);
    DOCTEST_CHECK(count(page, "<svg ") == count(page, "</svg>"));
    DOCTEST_CHECK(page == page_of(bins.folder, Task::chromatin,
                                  {{"a<b", bins.folder / "s.tsv"}, {"other", bins.folder / "s.tsv"}}));
    DOCTEST_CHECK(page.find(bins.folder.path().string()) == std::string::npos);
}

DOCTEST_TEST_CASE("evaluation_html: one label of peaks has no tables of labels and no mean") {
    Bins bins;
    EvaluationRequest request = request_of(bins.folder, Task::chromatin);
    request.scores = {{"s", bins.folder / "s.tsv"}};
    request.options = {.resamples = 10};
    EvaluationReport report = evaluate(request);
    report.columns.resize(1);
    report.groups.resize(1);
    report.groups[0].members = {0};
    report.files[0].figures.each.resize(1);
    report.files[0].curves.resize(1);
    const std::string page = to_html(report);
    for (const char* absent : {"<h2>Labels</h2>", "<h2>Groups</h2>", ", mean", "Mean of", "median"})
        DOCTEST_CHECK_MESSAGE(page.find(absent) == std::string::npos, absent);
    DOCTEST_CHECK(count(page, "<td class=text>AUROC</td>") == 1);
    DOCTEST_CHECK(count(page, "<svg ") == 2);  // its precision and recall, and reliability
}

DOCTEST_TEST_CASE("evaluation_html: words of points that are close do not meet, or are left out") {
    Plot plot("", "x", "y");
    for (int i = 0; i < 10; ++i)
        plot.words(0.5, 0.5, "name", "#444");
    const std::string html = plot.html();
    DOCTEST_CHECK(count(html, ">name</text>") == 6);  // three lines on either side
    DOCTEST_CHECK(count(html, "<text x=205.0 y=146.0 ") == 1);
    plot.words(1, 0.5, "edge", "#444");
    DOCTEST_CHECK(plot.html().find("<text x=302.0 y=146.0 ") != std::string::npos);  // within the picture
    plot.words(0, 0, std::string(100, 'w'), "#444");
    DOCTEST_CHECK(count(plot.html(), "www") == 0);
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
    scored.request.options.resamples = 0;
    EvaluationReport report = evaluate(scored.request);
    DOCTEST_CHECK_FALSE(report.files[0].threshold_rule.empty());
    report.files[0].threshold = 0.5;
    report.files[1].threshold = 0.296;
    report.files[1].threshold_rule = "best F1 on validation";
    const std::string page = to_html(report);
    DOCTEST_CHECK(page.find("again 0.296 (best F1 on validation). <b>These thresholds differ</b>") !=
                  std::string::npos);
}
