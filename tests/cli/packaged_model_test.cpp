// SPDX-License-Identifier: Apache-2.0
// The small model that the packages carry (scripts/data/make-model) gives the scores that its maker stored.
#include "cli/checks.hpp"
#include "support/temp_dir.hpp"
#include "unit/tasks/table_rows.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

using namespace bigbird::testing;

namespace {

constexpr std::size_t first_score = 8, labels = 109, regions = 9;

TableRows expected_scores() {
    return read_rows(test_data("models/chromatin-grch37.scores.tsv"), "##");
}

ProgramResult score(const std::string& output, const std::string& strand) {
    return run_program({"predict-chromatin", "--model", test_data("models/chromatin-grch37"), "--reference",
                        test_data("genome/22.fa.gz"), "--regions", test_data("models/example.bed"),
                        "--reverse-complement", strand, "--device", "cpu", "--output", output});
}

double largest_difference(const TableRows& scores, const TableRows& expected) {
    double largest = 0;
    for (std::size_t row = 1; row < expected.size(); ++row) {
        for (std::size_t i = first_score; i < expected[row].size(); ++i) {
            largest =
                std::max(largest, std::abs(std::stod(scores.at(row).at(i)) - std::stod(expected[row][i])));
        }
    }
    return largest;
}

}  // namespace

DOCTEST_TEST_CASE("chromatin-grch37: scores a BED file as stored") {
    const TempDir folder;
    const std::string output = folder / "scores.tsv";
    succeeded(score(output, "average"));

    const TableRows scores = read_rows(output, "##"), expected = expected_scores();
    DOCTEST_REQUIRE(expected.size() == 1 + regions);
    DOCTEST_REQUIRE(expected.front().size() == first_score + labels);
    DOCTEST_REQUIRE(scores.size() == expected.size());
    DOCTEST_CHECK(scores.front() == expected.front());
    DOCTEST_CHECK(largest_difference(scores, expected) < 1e-4);
}

DOCTEST_TEST_CASE("chromatin-grch37: the strands count") {
    const TempDir folder;
    const std::string output = folder / "scores.tsv";
    succeeded(score(output, "none"));
    DOCTEST_CHECK(largest_difference(read_rows(output, "##"), expected_scores()) > 1e-3);
}

DOCTEST_TEST_CASE("chromatin-grch37: effects of variants that bcftools consensus applied, and their ranks") {
    const TempDir folder;
    const TableRows expected =
        read_rows(test_data("variants/effects.tsv"), "##");  // scripts/checks/check_variants.py
    DOCTEST_REQUIRE(expected.size() == 34);
    std::string vcf = "##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n", before;
    for (std::size_t i = 1; i < expected.size(); ++i) {
        const std::vector<std::string>& row = expected[i];
        const std::string record = row[0] + "\t" + row[1] + "\t.\t" + row[2] + "\t" + row[3] + "\t.\t.\t.\n";
        if (record != before) vcf += record;
        before = record;
    }
    write_file(folder / "v.vcf", vcf);
    const auto effects = [&](const std::string& name, const std::vector<std::string>& more) {
        const std::string output = (folder / name).string();
        works(joined({"predict-variants", "--model", test_data("models/chromatin-grch37"), "--reference",
                      test_data("genome/22.fa.gz"), "--variants", folder / "v.vcf", "--labels", "0,1,80",
                      "--device", "cpu", "--output", output},
                     more));
        return read_rows(output, "##");
    };
    const TableRows centre = effects("centre.tsv", {"--write", "log-odds,quantile,p"});
    const TableRows l2 = effects("l2.tsv", {"--write", "log-odds", "--scorer", "l2:5"});
    for (std::size_t i = 1; i < expected.size(); ++i) {
        const std::size_t row = (i + 2) / 3, label = (i - 1) % 3;
        DOCTEST_CAPTURE(i);
        DOCTEST_CHECK(std::abs(std::stod(centre.at(row).at(10 + 3 * label)) - std::stod(expected[i][5])) <
                      1e-4);
        DOCTEST_CHECK(std::abs(std::stod(l2.at(row).at(10 + label)) - std::stod(expected[i][6])) < 1e-4);
        const double quantile = std::stod(centre[row][11 + 3 * label]), effect = std::stod(expected[i][5]);
        if (std::abs(effect) > 0.1) DOCTEST_CHECK((quantile > 0.5) == (effect > 0));
    }
}

DOCTEST_TEST_CASE("chromatin-grch37: VCF on standard output ends where its reader does") {
    if (!has_shell("bash")) return;
    const ProgramResult gone = run_shell(
        "bash", program_path() + " predict-variants --model " +
                    test_data("models/chromatin-grch37").string() + " --reference " +
                    test_data("genome/22.fa.gz").string() + " --variants " +
                    test_data("variants/1000g.chr22.vcf.gz").string() +
                    " --device cpu --output - --format vcf 2>/dev/null | true; echo ${PIPESTATUS[0]}");
    DOCTEST_CHECK(gone.out == "141\n");
}

DOCTEST_TEST_CASE("chromatin-grch37: its card names the weights that lie beside it") {
    const std::string card = read_file(test_data("models/chromatin-grch37/README.md"));
    DOCTEST_CHECK(card.starts_with("---\nlicense: apache-2.0\n"));
    const TempDir folder;
    const std::string output = folder / "scores.tsv";
    succeeded(score(output, "none"));
    const std::string table = read_file(output), key = "##model_sha256=";
    const std::size_t at = table.find(key);
    DOCTEST_REQUIRE(at != std::string::npos);
    DOCTEST_CHECK(holds(card, table.substr(at + key.size(), 64)));
}
