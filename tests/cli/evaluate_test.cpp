// SPDX-License-Identifier: Apache-2.0
// evaluate-promoter and evaluate-chromatin as a shell sees them.
#include "cli/checks.hpp"
#include "support/temp_dir.hpp"
#include "unit/examples/example_folder.hpp"

#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/rows/score_table.hpp"

#include <filesystem>

using bigbird::Json;
using namespace bigbird::testing;

namespace {

std::vector<std::string> evaluate(const std::string& task, const TempDir& folder, const std::string& output) {
    return {"evaluate-" + task, "--scores", folder / "s.tsv", "--examples", folder / "e",
            "--resamples",      "100",      "--output",       output};
}

}  // namespace

DOCTEST_TEST_CASE("evaluate-chromatin: JSON on standard output, the summary on standard error") {
    const TempDir folder;
    const ScoredBins bins(folder / "e", folder / "s.tsv", 300);
    const auto result = works(evaluate("chromatin", folder, "-"));
    const Json json = Json::parse(result.out);
    DOCTEST_CHECK(json["task"] == "chromatin");
    DOCTEST_CHECK(json["labels"].size() == 4);
    check_holds(result.err,
                {"270 rows of split test, no intervals, which need 5 blocks: only 3 blocks of 100000 bp\n",
                 "all: 3 of 4 labels; AUROC mean 0."});
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
    const auto result = works(arguments);
    DOCTEST_CHECK(holds(result.err, "270 rows of split test\n"));
    DOCTEST_CHECK(!holds(read_file(folder / "r.html"), "interval"));
}

DOCTEST_TEST_CASE("evaluate-promoter: TSV by suffix, the kind of negatives named") {
    const TempDir folder;
    const ScoredPromoters promoters(folder / "e", folder / "s.tsv", 40);
    const auto result = works(evaluate("promoter", folder, (folder / "r.tsv").string()));
    DOCTEST_CHECK(result.out.empty());
    DOCTEST_CHECK(holds(result.err, "40 positives, negatives: permuted\n"));
    check_holds(read_file(folder / "r.tsv"),
                {"##negatives=permuted\n", "\nfigure\tvalue\tlow\thigh\nauroc\t"});
}

DOCTEST_TEST_CASE("evaluate-chromatin: reads CSV and writes it, with the comments in the log") {
    const TempDir folder;
    const ScoredBins bins(folder / "e", folder / "s.tsv", 300);
    const auto table_of = [&](const std::string& report) {
        const auto result = works(evaluate("chromatin", folder, (folder / report).string()));
        return std::pair(read_file(folder / report), result.err);
    };
    const std::string by_table = table_of("a.tsv").first;
    write_file(folder / "s.tsv", bigbird::rows::csv_of(read_file(folder / "s.tsv"), "s.csv"));
    const auto [csv, log] = table_of("b.csv");
    DOCTEST_CHECK(csv.starts_with("index,group,name,positives,base_rate,auroc,"));
    DOCTEST_CHECK(csv.find('\t') == std::string::npos);
    const std::size_t header = by_table.find("\nindex\t") + 1;
    DOCTEST_CHECK(csv == bigbird::rows::csv_of(by_table.substr(header), "b.csv"));
    check_holds(log, {"b.csv: format=bigbird-dna evaluation; ", "; group TF"});
}

DOCTEST_TEST_CASE("evaluate: wrong inputs are one sentence and leave nothing") {
    const TempDir folder;
    const ScoredPromoters promoters(folder / "e", folder / "s.tsv", 4);
    const std::string output = folder / "r.json", scores = folder / "s.tsv";
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
        holds(error_of(evaluate("promoter", folder, output), 3),
              "lacks 1 of the 8 rows of split test, the first is "
              "'1 240000 240001 P3.negative'; score them with "
              "predict-promoter --examples, or evaluate those that are there with --rows scored\n"));
    write_file(scores, "chr1\t1\t2\n");
    DOCTEST_CHECK(holds(error_of(evaluate("promoter", folder, output), 3),
                        "s.tsv:1: is no table of scores of these examples: it has no column 'chrom'"));
    std::filesystem::remove(scores);
    DOCTEST_CHECK(error_of(evaluate("promoter", folder, output), 3) ==
                  "bigbird-dna: error: " + scores + ": no such file\n");
    DOCTEST_CHECK(
        holds(error_of(joined(evaluate("promoter", folder, output), {"--split", "all"}), 2), "--split"));
    write_file(folder / "s.long.tsv", "##min_score=0.5\n#chrom\tstart\n");
    write_file(folder / "s.h5", "no HDF5");
    write_file(folder / "s.npy", "no numbers");
    const std::pair<const char*, const char*> others[] = {
        {"s.npy", "s.npy: lacks s.rows.tsv, which predict writes beside it"},
        {"s.bw", "s.bw: is not read here: give scores as .tsv, .csv (each also .gz), .h5 or .npy"},
        {"s.long.tsv", "s.long.tsv:2: is a long table, which lacks scores"},
        {"s.h5", "s.h5: holds no scores of regions or sequences as predict writes them"}};
    for (const auto& [name, why] : others) {
        auto words = evaluate("promoter", folder, output);
        words[2] = folder / name;
        DOCTEST_CHECK(holds(error_of(words, 3), why));
    }
}

DOCTEST_TEST_CASE("evaluate: several reports and several files of scores at once") {
    const TempDir folder;
    const ScoredBins bins(folder / "e", folder / "s.tsv", 300);
    std::filesystem::copy_file(folder / "s.tsv", folder / "again.tsv");
    auto arguments = joined(evaluate("chromatin", folder, (folder / "r.html").string()),
                            {"--scores", "again=" + (folder / "again.tsv").string(), "--output",
                             folder / "r.tsv", "--output", folder / "r.json"});
    const auto result = works(arguments);
    DOCTEST_CHECK(holds(read_file(folder / "r.html"), "<svg"));
    DOCTEST_CHECK(holds(read_file(folder / "r.tsv"), "\tauroc:again\t"));
    DOCTEST_CHECK(Json::parse(read_file(folder / "r.json"))["others"][0]["name"] == "again");
    DOCTEST_CHECK(holds(result.err, "again - s: AUROC mean 0.000"));
}

DOCTEST_TEST_CASE("evaluate-promoter: a threshold needs validation, --scan needs TSSs") {
    const TempDir folder;
    const ScoredPromoters promoters(folder / "e", folder / "s.tsv", 10);
    auto arguments = joined(evaluate("promoter", folder, "-"), {"--threshold", "f1"});
    const auto result = run_program(arguments);
    DOCTEST_CHECK(result.out.empty());
    check_said(result, 2, "--threshold f1 and mcc choose it on rows of validation");
    arguments[2] = "-";
    check_said(run_program(arguments, read_file(folder / "s.tsv")), 2,
               "--threshold f1 and mcc read the scores twice");
    DOCTEST_CHECK(run_program(joined(evaluate("promoter", folder, "-"), {"--scan", folder / "s.tsv"})).code ==
                  2);
}
