// SPDX-License-Identifier: Apache-2.0
#include "bigbird/rows/row.hpp"

#include "support/testing.hpp"

#include <cmath>
#include <limits>

using namespace bigbird;
using namespace bigbird::rows;

DOCTEST_TEST_CASE("row: a window's bases tell its status, the first of all_n, padded, has_n and ok") {
    DOCTEST_CHECK(status_of("ACGT") == RowStatus::ok);
    DOCTEST_CHECK(status_of("ANGT") == RowStatus::has_n);
    DOCTEST_CHECK(status_of("NNGT", true) == RowStatus::padded);
    DOCTEST_CHECK(status_of("ACGT", true) == RowStatus::padded);
    DOCTEST_CHECK(status_of("NNN", true) == RowStatus::all_n);
    DOCTEST_CHECK(status_of("") == RowStatus::all_n);
    DOCTEST_CHECK(status_of("ACGT", false, "ACNT") == RowStatus::has_n);
    DOCTEST_CHECK(status_of("ACGT", false, "NNNN") == RowStatus::has_n);
    DOCTEST_CHECK(status_of("NNNN", false, "ACGT") == RowStatus::all_n);
}

DOCTEST_TEST_CASE("row: statuses up to all_n have no scores, and each is spelt as it is called") {
    const std::pair<RowStatus, std::string_view> words[] = {{RowStatus::malformed, "malformed"},
                                                            {RowStatus::no_contig, "no_contig"},
                                                            {RowStatus::bad_interval, "bad_interval"},
                                                            {RowStatus::past_end, "past_end"},
                                                            {RowStatus::no_alt, "no_alt"},
                                                            {RowStatus::symbolic, "symbolic"},
                                                            {RowStatus::ref_mismatch, "ref_mismatch"},
                                                            {RowStatus::too_long, "too_long"},
                                                            {RowStatus::no_tss, "no_tss"},
                                                            {RowStatus::all_n, "all_n"},
                                                            {RowStatus::truncated, "truncated"},
                                                            {RowStatus::padded, "padded"},
                                                            {RowStatus::has_n, "has_n"},
                                                            {RowStatus::ok, "ok"}};
    for (const auto& [status, word] : words) {
        DOCTEST_CHECK(to_string(status) == word);
        DOCTEST_CHECK(is_scored(status) == (status >= RowStatus::truncated));
    }
}

DOCTEST_TEST_CASE("row: fields stand in the order of their columns, numbers as numbers") {
    const Row row{.where = {"1", 2, 3},
                  .name = "n",
                  .strand = genome::Strand::reverse,
                  .status = RowStatus::has_n,
                  .n_fraction = 1.0 / 3};
    using std::int64_t;
    using std::string_view;
    const RegionFields wanted{string_view("1"), int64_t{2},       int64_t{3},           string_view("n"),
                              string_view("."), string_view("-"), string_view("has_n"), 0.333333};
    DOCTEST_CHECK((fields_of(row) == wanted));
}

DOCTEST_TEST_CASE("row: a malformed line's columns stand where a region's would") {
    const Row row{.status = RowStatus::malformed,
                  .n_fraction = std::numeric_limits<double>::quiet_NaN(),
                  .as_read = {"1", "007", "x", ".", ".", "?"}};
    const RegionFields fields = fields_of(row);
    DOCTEST_CHECK((fields[1] == Field(std::string_view("007"))));
    DOCTEST_CHECK((fields[5] == Field(std::string_view("?"))));
    DOCTEST_CHECK((fields[6] == Field(std::string_view("malformed"))));
    DOCTEST_CHECK(std::isnan(std::get<double>(fields[7])));
}
