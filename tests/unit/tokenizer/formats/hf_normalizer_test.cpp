// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/formats/hf_normalizer.hpp"

#include "support/testing.hpp"

#include <string>

using bigbird::tokenizer::NormalizedString;
using bigbird::tokenizer::TextPattern;
using bigbird::tokenizer::TextSpan;

namespace {

std::string replaced(const std::string& text, const TextPattern& pattern, const std::string& content) {
    NormalizedString traced(text, false);
    traced.replace(pattern, content);
    DOCTEST_CHECK(traced.origins.empty());
    return traced.text;
}

}  // namespace

DOCTEST_TEST_CASE("hf_normalizer: replaces what the pattern matches, as long as possible") {
    const auto replace = [](const std::string& expression, const std::string& text) {
        return replaced(text, TextPattern::regex(expression).value(), "-");
    };
    DOCTEST_CHECK(replace("N{3,}", "NNANNNCNNNNN") == "NNA-C-");
    DOCTEST_CHECK(replace("N+", "NNANC") == "-A-C");
    DOCTEST_CHECK(replace("[aA]", "aATA") == "--T-");
    DOCTEST_CHECK(replace("[^ACGT]", "AxyT\n") == "A--T-");
    DOCTEST_CHECK(replace("N", "") == "");
    DOCTEST_CHECK(replaced("ACGCGG", TextPattern::literal("CG"), "x") == "AxxG");
}

DOCTEST_TEST_CASE("hf_normalizer: other expressions are not taken for something else") {
    for (const char* expression :
         {"", "N*", "(N)", "[a-z]", "N{10}", "N{1,3}", "\\s+", "[", "[]", "NN", "N{,}", "."}) {
        DOCTEST_CAPTURE(expression);
        DOCTEST_CHECK(!TextPattern::regex(expression));
    }
}

DOCTEST_TEST_CASE("hf_normalizer: knows where each letter came from") {
    NormalizedString traced(" ACNNNNNG\n", true);
    traced.strip(true, true);
    DOCTEST_CHECK(traced.text == "ACNNNNNG");
    traced.replace(TextPattern::regex("N{3,}").value(), "-");
    traced.replace(TextPattern::literal("C"), "TT");
    DOCTEST_CHECK(traced.text == "ATT-G");
    DOCTEST_CHECK(traced.origins == std::vector<TextSpan>{{1, 2}, {2, 3}, {2, 3}, {3, 8}, {8, 9}});
    NormalizedString blank("  ", true);
    blank.strip(true, true);
    DOCTEST_CHECK(blank.text.empty());
    DOCTEST_CHECK(blank.origins.empty());
}
