// SPDX-License-Identifier: Apache-2.0
// evaluate-promoter and evaluate-chromatin as a shell sees them.
#include "cli/run_program.hpp"
#include "support/temp_dir.hpp"
#include "support/testing.hpp"
#include "unit/examples/example_folder.hpp"

#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/rows/score_table.hpp"

#include <filesystem>

using bigbird::Json;
using bigbird::testing::read_file;
using bigbird::testing::run_program;
using bigbird::testing::ScoredBins;
using bigbird::testing::ScoredPromoters;
using bigbird::testing::TempDir;
using bigbird::testing::write_file;

namespace {

std::vector<std::string> evaluate(const std::string& task, const TempDir& folder, const std::string& output) {
    return {"evaluate-" + task,
            "--scores",
            (folder / "s.tsv").string(),
            "--examples",
            (folder / "e").string(),
            "--resamples",
            "100",
            "--output",
            output};
}

}  // namespace

DOCTEST_TEST_CASE("evaluate-chromatin: JSON on standard output, the summary on standard error") {
    const TempDir folder;
    const ScoredBins bins(folder / "e", folder / "s.tsv", 300);
    const auto result = run_program(evaluate("chromatin", folder, "-"));
    DOCTEST_CHECK(result.code == 0);
    const Json json = Json::parse(result.out);
    DOCTEST_CHECK(json["task"] == "chromatin");
    DOCTEST_CHECK(json["labels"].size() == 4);
    DOCTEST_CHECK(result.err.find("270 rows of split test, 95 % intervals from 3 blocks of 100000 bp\n") !=
                  std::string::npos);
    DOCTEST_CHECK(result.err.find("all: 3 of 4 labels; AUROC mean 0.") != std::string::npos);
    DOCTEST_CHECK(run_program(evaluate("chromatin", folder, "-")).out == result.out);
    std::vector<std::string> verb = evaluate("chromatin", folder, "-");
    verb.front() = "evaluate";
    DOCTEST_CHECK(run_program(verb).out == result.out);
}

DOCTEST_TEST_CASE("evaluate-chromatin: without resamples no intervals are spoken of") {
    const TempDir folder;
    const ScoredBins bins(folder / "e", folder / "s.tsv", 300);
    auto arguments = evaluate("chromatin", folder, (folder / "r.html").string());
    arguments[6] = "0";
    const auto result = run_program(arguments);
    DOCTEST_CHECK(result.code == 0);
    DOCTEST_CHECK(result.err.find("270 rows of split test\n") != std::string::npos);
    DOCTEST_CHECK(read_file(folder / "r.html").find("interval") == std::string::npos);
}

DOCTEST_TEST_CASE("evaluate-promoter: TSV by suffix, the kind of negatives named") {
    const TempDir folder;
    const ScoredPromoters promoters(folder / "e", folder / "s.tsv", 40);
    const auto result = run_program(evaluate("promoter", folder, (folder / "r.tsv").string()));
    DOCTEST_CHECK(result.code == 0);
    DOCTEST_CHECK(result.out.empty());
    DOCTEST_CHECK(result.err.find("40 positives, negatives: permuted\n") != std::string::npos);
    DOCTEST_CHECK(read_file(folder / "r.tsv").find("##negatives=permuted\n") != std::string::npos);
    DOCTEST_CHECK(read_file(folder / "r.tsv").find("\nfigure\tvalue\tlow\thigh\nauroc\t") !=
                  std::string::npos);
}

DOCTEST_TEST_CASE("evaluate-chromatin: reads CSV and writes it, with the comments in the log") {
    const TempDir folder;
    const ScoredBins bins(folder / "e", folder / "s.tsv", 300);
    const auto table_of = [&](const std::string& report) {
        const auto result = run_program(evaluate("chromatin", folder, (folder / report).string()));
        DOCTEST_CAPTURE(result.err);
        DOCTEST_REQUIRE(result.code == 0);
        return std::pair(read_file(folder / report), result.err);
    };
    const std::string by_table = table_of("a.tsv").first;
    write_file(folder / "s.tsv", bigbird::rows::csv_of(read_file(folder / "s.tsv"), "s.csv"));
    const auto [csv, log] = table_of("b.csv");
    DOCTEST_CHECK(csv.starts_with("index,group,name,positives,base_rate,auroc,"));
    DOCTEST_CHECK(csv.find('\t') == std::string::npos);
    const std::size_t header = by_table.find("\nindex\t") + 1;
    DOCTEST_CHECK(csv == bigbird::rows::csv_of(by_table.substr(header), "b.csv"));
    DOCTEST_CHECK(log.find("b.csv: format=bigbird-dna evaluation; ") != std::string::npos);
    DOCTEST_CHECK(log.find("; group TF") != std::string::npos);
}

DOCTEST_TEST_CASE("evaluate: wrong inputs are one sentence and leave nothing") {
    const TempDir folder;
    const ScoredPromoters promoters(folder / "e", folder / "s.tsv", 4);
    const std::string output = (folder / "r.json").string(), scores = (folder / "s.tsv").string();
    const auto error_of = [&](const std::vector<std::string>& arguments, int code) {
        const auto result = run_program(arguments);
        DOCTEST_CHECK(result.code == code);
        DOCTEST_CHECK(result.out.empty());
        DOCTEST_CHECK(!std::filesystem::exists(output));
        return result.err;
    };
    DOCTEST_CHECK(error_of(evaluate("chromatin", folder, output), 3) ==
                  "bigbird-dna: error: " + (folder / "e").string() +
                      ": holds promoter examples; use evaluate-promoter\n");
    const std::string table = read_file(scores);
    write_file(scores, table.substr(0, table.find("P3.negative") - 16));
    DOCTEST_CHECK(
        error_of(evaluate("promoter", folder, output), 3)
            .find("lacks 1 of the 8 rows of split test, the first is "
                  "'1 240000 240001 P3.negative'; score them with "
                  "predict-promoter --examples, or evaluate those that are there with --rows scored\n") !=
        std::string::npos);
    write_file(scores, "chr1\t1\t2\n");
    DOCTEST_CHECK(error_of(evaluate("promoter", folder, output), 3).find("s.tsv:1: is no score table") !=
                  std::string::npos);
    std::filesystem::remove(scores);
    DOCTEST_CHECK(error_of(evaluate("promoter", folder, output), 3) ==
                  "bigbird-dna: error: " + scores + ": no such file\n");
    auto arguments = evaluate("promoter", folder, output);
    arguments.insert(arguments.end(), {"--split", "all"});
    DOCTEST_CHECK(error_of(arguments, 2).find("--split") != std::string::npos);
}

DOCTEST_TEST_CASE("evaluate: several reports and several files of scores at once") {
    const TempDir folder;
    const ScoredBins bins(folder / "e", folder / "s.tsv", 300);
    std::filesystem::copy_file(folder / "s.tsv", folder / "again.tsv");
    auto arguments = evaluate("chromatin", folder, (folder / "r.html").string());
    arguments.insert(arguments.end(),
                     {"--scores", "again=" + (folder / "again.tsv").string(), "--output",
                      (folder / "r.tsv").string(), "--output", (folder / "r.json").string()});
    const auto result = run_program(arguments);
    DOCTEST_CAPTURE(result.err);
    DOCTEST_CHECK(result.code == 0);
    DOCTEST_CHECK(read_file(folder / "r.html").find("<svg") != std::string::npos);
    DOCTEST_CHECK(read_file(folder / "r.tsv").find("\tauroc:again\t") != std::string::npos);
    DOCTEST_CHECK(Json::parse(read_file(folder / "r.json"))["others"][0]["name"] == "again");
    DOCTEST_CHECK(result.err.find("again - s: AUROC mean 0.000") != std::string::npos);
}

DOCTEST_TEST_CASE("evaluate-promoter: a threshold needs validation, --scan needs TSSs") {
    const TempDir folder;
    const ScoredPromoters promoters(folder / "e", folder / "s.tsv", 10);
    auto arguments = evaluate("promoter", folder, "-");
    arguments.insert(arguments.end(), {"--threshold", "f1"});
    const auto result = run_program(arguments);
    DOCTEST_CHECK(result.code == 2);
    DOCTEST_CHECK(result.out.empty());
    DOCTEST_CHECK(result.err.find("--threshold f1 and mcc choose it on rows of validation") !=
                  std::string::npos);
    arguments[2] = "-";
    const auto piped = run_program(arguments, read_file(folder / "s.tsv"));
    DOCTEST_CHECK(piped.code == 2);
    DOCTEST_CHECK(piped.err.find("--threshold f1 and mcc read the scores twice") != std::string::npos);
    arguments = evaluate("promoter", folder, "-");
    arguments.insert(arguments.end(), {"--scan", (folder / "s.tsv").string()});
    DOCTEST_CHECK(run_program(arguments).code == 2);
}
