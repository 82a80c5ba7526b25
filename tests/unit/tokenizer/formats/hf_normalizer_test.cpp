// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/formats/hf_normalizer.hpp"

#include "support/testing.hpp"
#include "unit/tokenizer/bpe_oracle.hpp"

#include "bigbird/core/rng.hpp"

#include <regex>
#include <string>
#include <vector>

using bigbird::testing::random_number;
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

DOCTEST_TEST_CASE("hf_normalizer: other expressions are not taken for something else") {
    for (const char* expression : {"",
                                   "N*",
                                   "(N)",
                                   "[a-z]",
                                   "N{10}",
                                   "N{1,3}",
                                   "\\s+",
                                   "[",
                                   "[]",
                                   "NN",
                                   "N{,}",
                                   ".",
                                   "N{0,}",
                                   "N{-1,}",
                                   "N{ 2,}",
                                   "N{2 ,}",
                                   "N{99999999999999999999,}",
                                   "N++",
                                   "[A]]",
                                   "[^]",
                                   "[a&&b]",
                                   "[A^]",
                                   "+",
                                   "{2,}"}) {
        DOCTEST_CAPTURE(expression);
        DOCTEST_CHECK(!TextPattern::regex(expression));
    }
}

DOCTEST_TEST_CASE("hf_normalizer: what std::regex replaces, on texts of all kinds") {
    bigbird::Rng rng(41);
    for (const std::string expression : {"N", "N+", "N{3,}", "N{10,}", "[aA]", "[ac]+", "[^ACGT]", "[^ACGT]+",
                                         "[^ACGTN]{2,}", "a{1,}", "[tuU]"}) {
        const TextPattern pattern = TextPattern::regex(expression).value();
        const std::regex twin(expression, std::regex::extended);
        for (const std::string letters : {"N", "AN", "ACGTN", "aAcCgGtTuUN", "acN \n-"}) {
            const auto texts = bigbird::testing::random_texts(rng, letters, 20, 4);
            for (const std::string& text : texts) {
                DOCTEST_CAPTURE(expression);
                DOCTEST_CAPTURE(text);
                DOCTEST_CHECK(replaced(text, pattern, "<x>") == std::regex_replace(text, twin, "<x>"));
            }
        }
    }
}

DOCTEST_TEST_CASE("hf_normalizer: letters beyond ASCII, literals and runs") {
    DOCTEST_CHECK(replaced("ACGCGG", TextPattern::literal("CG"), "x") == "AxxG");
    DOCTEST_CHECK(replaced("A\xC3\x85"
                           "A",
                           TextPattern::regex("[^ACGT]").value(), "N") == "ANNA");
    DOCTEST_CHECK(replaced("a-b", TextPattern::regex("-").value(), "") == "ab");
    DOCTEST_CHECK(replaced("NNNN", TextPattern::regex("N{1,}").value(), "N") == "N");
}

DOCTEST_TEST_CASE("hf_normalizer: blanks go from the ends asked for, with what tells their origin") {
    const auto stripped = [](const std::string& text, bool left, bool right) {
        NormalizedString plain(text, false), traced(text, true);
        plain.strip(left, right);
        traced.strip(left, right);
        DOCTEST_CHECK(plain.text == traced.text);
        DOCTEST_CHECK(traced.origins.size() == traced.text.size());
        for (std::size_t i = 0; i < traced.text.size(); ++i)
            DOCTEST_CHECK(text[traced.origins[i].begin] == traced.text[i]);
        return plain.text;
    };
    DOCTEST_CHECK(stripped(" \t\n\v\f\rA C\n", true, true) == "A C");
    DOCTEST_CHECK(stripped(" A ", true, false) == "A ");
    DOCTEST_CHECK(stripped(" A ", false, true) == " A");
    DOCTEST_CHECK(stripped(" A ", false, false) == " A ");
    for (const std::string blank : {"", " ", "\n\n\n"}) {
        DOCTEST_CHECK(stripped(blank, true, false).empty());
        DOCTEST_CHECK(stripped(blank, false, true).empty());
        DOCTEST_CHECK(stripped(blank, true, true).empty());
    }
}

DOCTEST_TEST_CASE("hf_normalizer: through any replacements, letters come in order from where they stood") {
    bigbird::Rng rng(42);
    const std::vector<TextPattern> patterns{TextPattern::regex("N{3,}").value(),
                                            TextPattern::regex("[aA]").value(), TextPattern::literal("CG"),
                                            TextPattern::regex("[^ACGTN]+").value()};
    for (const std::string& text : bigbird::testing::random_texts(rng, "ACGTNa ", 60, 3)) {
        NormalizedString traced(text, true);
        for (int step = 0; step < 4; ++step) {
            const std::string content = std::vector<std::string>{"", "-", "TT", "GNA"}[random_number(rng, 4)];
            traced.replace(patterns[random_number(rng, patterns.size())], content);
        }
        DOCTEST_REQUIRE(
            (traced.origins.size() == traced.text.size() || text.empty() || traced.origins.empty()));
        std::size_t last_begin = 0, last_end = 0;
        for (const TextSpan& span : traced.origins) {
            DOCTEST_REQUIRE(span.begin < span.end);
            DOCTEST_REQUIRE(span.end <= text.size());
            DOCTEST_CHECK(span.begin >= last_begin);
            DOCTEST_CHECK(span.end >= last_end);
            last_begin = span.begin;
            last_end = span.end;
        }
    }
}
