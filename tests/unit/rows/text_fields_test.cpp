// SPDX-License-Identifier: Apache-2.0
#include "bigbird/rows/text_fields.hpp"

#include "support/testing.hpp"

#include <charconv>
#include <limits>

using namespace bigbird::rows;

DOCTEST_TEST_CASE("text_fields: lines are cut at every separator") {
    DOCTEST_CHECK(split_fields("a\t\tb", '\t') == std::vector<std::string_view>{"a", "", "b"});
    DOCTEST_CHECK(split_fields("", '\t') == std::vector<std::string_view>{""});
    DOCTEST_CHECK(split_fields("a\t", '\t') == std::vector<std::string_view>{"a", ""});
}

DOCTEST_TEST_CASE("text_fields: lines of CSV are cut outside quotes, and fields come back as they were") {
    const auto cut = [](std::string line) {
        const auto fields = split_csv(line);
        return fields ? std::vector<std::string>(fields->begin(), fields->end())
                      : std::vector<std::string>{"none"};
    };
    using Fields = std::vector<std::string>;
    DOCTEST_CHECK(cut("a,,b") == Fields{"a", "", "b"});
    DOCTEST_CHECK(cut("") == Fields{""});
    DOCTEST_CHECK(cut("\"a,b\",\"\",\"c\"\"d\"\"\",") == Fields{"a,b", "", "c\"d\"", ""});
    DOCTEST_CHECK(cut("a,\"b") == Fields{"none"});
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
