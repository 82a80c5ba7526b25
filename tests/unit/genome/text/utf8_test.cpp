// SPDX-License-Identifier: Apache-2.0
#include "bigbird/genome/text/utf8.hpp"

#include "support/testing.hpp"

#include <nlohmann/json.hpp>

#include <string>

using bigbird::genome::is_utf8;

DOCTEST_TEST_CASE("utf8: text of three bytes is UTF-8 exactly where nlohmann-json writes it") {
    const std::string edges(
        "a\x7F\x80\x8F\x90\x9F\xA0\xBF\xC0\xC1\xC2\xDF\xE0\xE1\xEC\xED\xEE\xEF\xF0\xF1\xF3\xF4\xF5\xFF");
    const auto written = [](const std::string& text) {
        try {
            return !nlohmann::json(text).dump().empty();
        } catch (const nlohmann::json::type_error&) {
            return false;
        }
    };
    int wrong = 0;
    for (const char a : edges)
        for (const char b : edges)
            for (const char c : edges)
                for (const char* tail : {"", "\x80", "\xBFz"}) {
                    const std::string text = std::string{a, b, c} + tail;
                    wrong += is_utf8(text) == written(text) ? 0 : 1;
                }
    DOCTEST_CHECK(wrong == 0);
    DOCTEST_CHECK(is_utf8(""));
    DOCTEST_CHECK(is_utf8("caf\xC3\xA9"));
    DOCTEST_CHECK_FALSE(is_utf8("caf\xE9"));
}
