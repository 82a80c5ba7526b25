// SPDX-License-Identifier: Apache-2.0
#include "bigbird/rows/row.hpp"

#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/rows/text_fields.hpp"
#include "bigbird/rows/window.hpp"

#include <charconv>
#include <cmath>
#include <limits>

using namespace bigbird;
using namespace bigbird::rows;
using genome::Interval;
using genome::Strand;

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
    const std::string_view words[] = {"malformed", "no_contig",    "bad_interval", "past_end", "no_alt",
                                      "symbolic",  "ref_mismatch", "too_long",     "no_tss",   "all_n",
                                      "truncated", "padded",       "has_n",        "ok"};
    for (std::uint8_t i = 0; i < std::size(words); ++i) {
        DOCTEST_CHECK(to_string(RowStatus{i}) == words[i]);
        DOCTEST_CHECK(is_scored(RowStatus{i}) == (RowStatus{i} >= RowStatus::truncated));
    }
    DOCTEST_CHECK(to_string(RowStatus::ok) == "ok");
    DOCTEST_CHECK(to_string(RowStatus::all_n) == "all_n");
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

DOCTEST_TEST_CASE("window: bounds are two offsets, the smaller first") {
    DOCTEST_CHECK(parse_window_bounds("-5000:3000") == WindowBounds{-5000, 3000});
    DOCTEST_CHECK(parse_window_bounds("-249:51").size() == 300);
    DOCTEST_CHECK(parse_window_bounds("0:16777216").size() == longest_window);
    DOCTEST_CHECK_THROWS_WITH(parse_window_bounds("-1:16777216"),
                              "window '-1:16777216' has more than 2^24 bases");
    DOCTEST_CHECK(to_string(WindowBounds{-249, 51}) == "-249:51");
    for (const char* text :
         {"", "8000", "3000:-5000", "5:5", "a:b", "-5000:3000:1", "-5000:", "-900000000:0"})
        DOCTEST_CHECK_THROWS_AS(parse_window_bounds(text), ConfigError);
}

DOCTEST_TEST_CASE("window: the TSS base counts as 0 on both strands") {
    const WindowBounds bounds{-2, 1};  // two bases upstream and the TSS base
    DOCTEST_CHECK(window_about_tss("1", 100, Strand::forward, bounds) == Interval{"1", 98, 101});
    DOCTEST_CHECK(window_about_tss("1", 100, Strand::reverse, bounds) == Interval{"1", 100, 103});
    DOCTEST_CHECK(window_about_tss("1", 100, Strand::reverse, {-5000, 3000}).size() == 8000);
    DOCTEST_CHECK(window_about_tss("1", 100, Strand::forward, {-5000, 3000}).begin == -4900);
}

DOCTEST_TEST_CASE("window: the TSS base of a wide row is its first in the direction of transcription") {
    DOCTEST_CHECK(tss_of({"1", 10, 70}, Strand::forward) == 10);
    DOCTEST_CHECK(tss_of({"1", 10, 70}, Strand::reverse) == 69);
    DOCTEST_CHECK(tss_of({"1", 10, 11}, Strand::reverse) == 10);
    DOCTEST_CHECK(tss_of({"1", 10, 10}, Strand::reverse) == 10);
}

DOCTEST_TEST_CASE("window: rows of one base are TSSs, longer ones are centred, unless it is said otherwise") {
    genome::BedRecord record;
    record.where = {"1", 100, 101};
    record.strand = Strand::reverse;
    const WindowBounds bounds{-30, 10};
    DOCTEST_CHECK(window_of(record, Anchor::automatic, bounds) ==
                  window_about_tss("1", 100, Strand::reverse, bounds));
    DOCTEST_CHECK(window_of(record, Anchor::centre, bounds) == Interval{"1", 80, 120});
    record.where = {"1", 100, 140};
    DOCTEST_CHECK(window_of(record, Anchor::automatic, bounds) == record.where);
    DOCTEST_CHECK(window_of(record, Anchor::tss, bounds) ==
                  window_about_tss("1", 139, Strand::reverse, bounds));
    DOCTEST_CHECK(window_of(record, Anchor::summit, bounds) == record.where);
    record.summit = 5;
    DOCTEST_CHECK(window_of(record, Anchor::summit, bounds) == Interval{"1", 85, 125});
}

DOCTEST_TEST_CASE("text_fields: lines are cut at every separator") {
    DOCTEST_CHECK(split_fields("a\t\tb", '\t') == std::vector<std::string_view>{"a", "", "b"});
    DOCTEST_CHECK(split_fields("", '\t') == std::vector<std::string_view>{""});
    DOCTEST_CHECK(split_fields("a\t", '\t') == std::vector<std::string_view>{"a", ""});
}

DOCTEST_TEST_CASE("text_fields: lines of CSV are cut outside quotes, and fields come back as they were") {
    const auto cut = [](std::string line, char separator = ',') {
        const auto fields = split_quoted(line, separator);
        return fields ? std::vector<std::string>(fields->begin(), fields->end())
                      : std::vector<std::string>{"none"};
    };
    using Fields = std::vector<std::string>;
    DOCTEST_CHECK(cut("a,,b") == Fields{"a", "", "b"});
    DOCTEST_CHECK(cut("") == Fields{""});
    DOCTEST_CHECK(cut("\"a,b\",\"\",\"c\"\"d\"\"\",") == Fields{"a,b", "", "c\"d\"", ""});
    DOCTEST_CHECK(cut("a,\"b") == Fields{"none"});
    DOCTEST_CHECK(cut("5\" x,a \"b\"") == Fields{"5\" x", "a \"b\""});
    DOCTEST_CHECK(cut("\"a\tb\"\t\"x\"\t5\"", '\t') == Fields{"a\tb", "x", "5\""});
    const Fields fields{"a,b", "\"", "", "plain", "two\nlines", ",\","};
    std::string line;
    for (const std::string& field : fields) {
        append_csv_field(line, field);
        line += ',';
    }
    line.pop_back();
    DOCTEST_CHECK(line == "\"a,b\",\"\"\"\",,plain,\"two\nlines\",\",\"\",\"");
    DOCTEST_CHECK(cut(line) == fields);
}

DOCTEST_TEST_CASE("text_fields: what R and pandas write for a missing value is one, and no other word is") {
    for (const char* word : {"", " ", "NA", "nan", "NaN", "None", "NULL", "<NA>", "N/A", "#N/A", " NA "})
        DOCTEST_CHECK(is_missing(word));
    for (const char* word : {"N", "na", "none", ".", "-", "NAN", "0", "NANA"})
        DOCTEST_CHECK(!is_missing(word));
}

DOCTEST_TEST_CASE("text_fields: only finite numbers are numbers") {
    DOCTEST_CHECK(parse_real("1e-3") == 0.001);
    for (const char* text : {"", "nan", "inf", "1,5", "1.5x"})
        DOCTEST_CHECK(!parse_real(text));
}

DOCTEST_TEST_CASE("text_fields: numbers are written so that they read back as they were") {
    for (const float value : {0.1F, 1.0F / 3.0F, 1e-30F, 0.99999994F, 0.0F, -2.5F}) {
        std::string text;
        append_number(text, value);
        float back = -1;
        std::from_chars(text.data(), text.data() + text.size(), back);
        DOCTEST_CHECK(back == value);
    }
    std::string text;
    append_number(text, std::numeric_limits<double>::quiet_NaN());
    DOCTEST_CHECK(text == "NA");
    text.clear();
    append_number(text, 1.0F / 3.0F);
    DOCTEST_CHECK(text == "0.33333334");
}
