// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/text_rewriter.hpp"

#include "support/testing.hpp"

#include <string>

using bigbird::tokenizer::TextPattern;

DOCTEST_TEST_CASE("text_rewriter: replaces what the pattern matches, as long as possible") {
    const auto replace = [](const std::string& expression, const std::string& text) {
        return TextPattern::regex(expression).value().replace(text, "-");
    };
    DOCTEST_CHECK(replace("N{3,}", "NNANNNCNNNNN") == "NNA-C-");
    DOCTEST_CHECK(replace("N+", "NNANC") == "-A-C");
    DOCTEST_CHECK(replace("[aA]", "aATA") == "--T-");
    DOCTEST_CHECK(replace("[^ACGT]", "AxyT\n") == "A--T-");
    DOCTEST_CHECK(replace("N", "") == "");
    DOCTEST_CHECK(TextPattern::literal("CG").replace("ACGCGG", "x") == "AxxG");
}

DOCTEST_TEST_CASE("text_rewriter: other expressions are not taken for something else") {
    for (const char* expression :
         {"", "N*", "(N)", "[a-z]", "N{10}", "N{1,3}", "\\s+", "[", "[]", "NN", "N{,}", "."}) {
        DOCTEST_CAPTURE(expression);
        DOCTEST_CHECK(!TextPattern::regex(expression));
    }
}
