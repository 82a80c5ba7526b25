// SPDX-License-Identifier: Apache-2.0
#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/evaluation/evaluation_report.hpp"

using namespace bigbird;
using namespace bigbird::evaluation;

namespace {

constexpr const char* head = "#chrom\tstart\tend\tname\tscore\tstrand\tstatus\tn_fraction\tpromoter\n";

std::string row(std::int64_t begin, const std::string& score, const std::string& strand = "+") {
    return "1\t" + std::to_string(begin) + "\t" + std::to_string(begin + 100) + "\t.\t.\t" + strand +
           "\tok\t0\t" + score + "\n";
}

}  // namespace

DOCTEST_TEST_CASE("scan_evaluation: calls are joined, TSSs beyond the scan do not count") {
    const testing::TempDir folder;
    std::string table = head;
    for (std::int64_t begin = 0; begin < 10'000; begin += 100) {
        const bool call = begin == 1000 || begin == 1200 || begin == 5000 || begin == 8000;
        const std::string score = begin == 9900 ? "NA" : call ? "0.9" : "0.1";
        table += row(begin, score) + row(begin, begin == 9900 ? "NA" : begin == 1000 ? "0.8" : "0.1", "-");
    }
    testing::write_file(folder / "scan.tsv", table);
    testing::write_file(folder / "tss.bed",
                        "chr1\t1350\t1351\ta\t0\t+\nchr1\t3000\t3001\tb\t0\t-\nchr1\t5240\t5260\tc\t0\t-\n"
                        "chr1\t9950\t9951\td\t0\t+\n2\t5\t6\te\t0\t+\n");
    const ScanFigures figures = evaluate_scan({folder / "scan.tsv", folder / "tss.bed", 200}, 0.5);
    DOCTEST_CHECK(figures.scanned_bases == 9900);
    DOCTEST_CHECK(figures.calls == 3);  // 1000 and 1200 are one
    DOCTEST_CHECK(figures.right_calls == 2);
    DOCTEST_CHECK(figures.tss == 3);
    DOCTEST_CHECK(figures.found_tss == 2);
    DOCTEST_CHECK(*figures.false_calls_a_megabase == doctest::Approx(1e6 / 9900));
    DOCTEST_CHECK(*figures.precision == doctest::Approx(2.0 / 3));
    DOCTEST_CHECK(*figures.recall == doctest::Approx(2.0 / 3));
}

DOCTEST_TEST_CASE("scan_evaluation: nothing called is no precision, and a foreign assembly an error") {
    const testing::TempDir folder;
    testing::write_file(folder / "scan.tsv", head + row(0, "0.1") + "1\tx\t9\t.\t.\t.\tmalformed\tNA\tNA\n");
    testing::write_file(folder / "tss.bed", "1\t50\t51\ta\t0\t+\n");
    const ScanFigures figures = evaluate_scan({folder / "scan.tsv", folder / "tss.bed", 200}, 0.5);
    DOCTEST_CHECK_FALSE(figures.precision.has_value());
    DOCTEST_CHECK(*figures.recall == 0);
    DOCTEST_CHECK(to_json(figures)["precision"].is_null());
    testing::write_file(folder / "tss.bed", "7\t50\t51\ta\t0\t+\n");
    DOCTEST_CHECK(testing::message_of<InputError>([&] {
                      evaluate_scan({folder / "scan.tsv", folder / "tss.bed", 200}, 0.5);
                  }).find("has no TSS on the contigs that were scanned") != std::string::npos);
}

DOCTEST_TEST_CASE("scan_evaluation: scores that are no scan, tile by tile, are refused") {
    const testing::TempDir folder;
    testing::write_file(folder / "tss.bed", "1\t50\t51\ta\t0\t+\n");
    const auto message = [&](const std::string& lines) {
        testing::write_file(folder / "scan.tsv", lines + head + row(0, "0.1"));
        return testing::message_of<InputError>([&] {
            evaluate_scan({folder / "scan.tsv", folder / "tss.bed", 200}, 0.5);
        });
    };
    const std::string refused = ": is no scan, tile by tile: predict-promoter --tile writes one";
    DOCTEST_CHECK(message("##task=promoter\n") == (folder / "scan.tsv").string() + refused);
    DOCTEST_CHECK(message("##tile=100\n##pool=max\n").ends_with(refused));
    testing::write_file(folder / "scan.tsv", std::string("##tile=100\n##pool=none\n") + head + row(0, "0.1"));
    DOCTEST_CHECK(evaluate_scan({folder / "scan.tsv", folder / "tss.bed", 200}, 0.5).tss == 1);
}
