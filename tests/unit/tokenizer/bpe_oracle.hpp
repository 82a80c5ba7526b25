// SPDX-License-Identifier: Apache-2.0
// Byte-pair encoding by its definition, and texts and rules to hold encoders against.
#pragma once

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/rng.hpp"
#include "bigbird/tokenizer/encode/bpe_rules.hpp"
#include "bigbird/tokenizer/encode/encoder_tables.hpp"
#include "bigbird/tokenizer/encode/exact_encoder.hpp"
#include "bigbird/tokenizer/formats/sentencepiece_model.hpp"
#include "bigbird/tokenizer/train/storage/token_array.hpp"

#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace bigbird::testing {

/// The rules' letters of a text, no_token where there is none.
inline std::vector<tokenizer::Token> letters_of(const tokenizer::BpeRules& rules, std::string_view text) {
    std::vector<tokenizer::Token> letters;
    for (const char letter : text)
        letters.push_back(rules.letters[static_cast<unsigned char>(letter)]);
    return letters;
}

/// Adds a stretch of A C G T N.
template <typename Element>
void append_letters(tokenizer::SymbolArray<Element>& array, std::string_view dna) {
    std::vector<std::uint8_t> letters;
    for (const char letter : dna)
        letters.push_back(static_cast<std::uint8_t>(tokenizer::symbol_of_letter(letter)));
    array.append(letters.data(), letters.size());
}

/// Merges the two neighbours of lowest rank, the leftmost of several, until none can be merged.
inline std::vector<tokenizer::Token> encode_by_definition(const tokenizer::BpeRules& rules,
                                                          std::vector<tokenizer::Token> tokens) {
    while (true) {
        std::size_t at = 0;
        tokenizer::BpeRules::Merge best;
        for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
            const auto merge = rules.merge(tokens[i], tokens[i + 1]);
            if (merge.rank < best.rank) {
                best = merge;
                at = i;
            }
        }
        if (best.rank == tokenizer::never) return tokens;
        tokens[at] = best.merged;
        tokens.erase(tokens.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    }
}

inline std::size_t random_number(Rng& rng, std::size_t below) {
    return static_cast<std::size_t>(rng.between(0, static_cast<std::int64_t>(below) - 1));
}

/// A text whose letters repeat, with the given probability, those of a few letters before.
inline std::string random_text(Rng& rng, std::size_t length, const std::string& letters, double repeat) {
    std::string text;
    const std::size_t unit = 1 + random_number(rng, 6);
    while (text.size() < length) {
        text += rng.uniform() < repeat && text.size() >= unit ? text[text.size() - unit]
                                                              : letters[random_number(rng, letters.size())];
    }
    return text;
}

/// Texts of rising length, with repeats of every phase; the first is empty.
inline std::vector<std::string> random_texts(Rng& rng, const std::string& letters, int count = 60,
                                             std::size_t step = 3) {
    std::vector<std::string> texts{""};
    for (int i = 0; i < count; ++i)
        texts.push_back(random_text(rng, static_cast<std::size_t>(i) * step + 1, letters, 0.7));
    return texts;
}

/// A text as TokenMatcher and encoders read it.
inline std::vector<std::uint8_t> numbers_of(const tokenizer::TokenMatcher& matcher, std::string_view text) {
    std::vector<std::uint8_t> numbers(text.size() + tokenizer::TokenMatcher::padding);
    for (std::size_t i = 0; i < text.size(); ++i)
        numbers[i] = matcher.letter_number(text[i]);
    return numbers;
}

/// Whether each id has a span, and spans are adjacent and together cover `size` letters.
template <typename Encoded>
bool spans_cover(const Encoded& encoded, std::size_t size) {
    if (encoded.spans.size() != encoded.ids.size()) return false;
    std::size_t position = 0;
    for (const tokenizer::TextSpan span : encoded.spans) {
        if (span.begin != position) return false;
        position = span.end;
    }
    return position == size;
}

/// Pieces in any order, merged from any two: tokens that cannot be reached, merges that wait for each other,
/// ranks that fall inside a token. Stranger than training makes them. `any_split`: any two tokens that spell
/// a third are merged, as in SentencePiece's models; else one pair alone, as in Hugging Face's. Ranks vary
/// more the greater `spread` is.
inline tokenizer::BpeRules random_rules(Rng& rng, std::size_t size, bool any_split, std::uint32_t spread,
                                        const std::string& letters = "ACGT") {
    using tokenizer::Token;
    tokenizer::BpeRules rules;
    for (const char letter : letters)
        rules.add(std::string(1, letter), static_cast<std::int32_t>(rules.size()));
    while (rules.size() < size) {
        const auto left = static_cast<Token>(random_number(rng, rules.size())),
                   right = static_cast<Token>(random_number(rng, rules.size()));
        const std::string text = rules.texts[left] + rules.texts[right];
        if (text.size() > 12 || rules.find(text)) continue;
        const Token merged = rules.add(text, static_cast<std::int32_t>(rules.size()));
        const auto rank = static_cast<std::uint32_t>(random_number(rng, 6)) * spread + merged;
        rules.add_merge(left, right, rank, merged);
        for (std::size_t cut = 1; any_split && cut < text.size(); ++cut) {
            const auto l = rules.find(text.substr(0, cut)), r = rules.find(text.substr(cut));
            if (l && r) rules.add_merge(*l, *r, rank, merged);
        }
    }
    return rules;
}

/// The lines of test_data's sentences, and all of them as one sequence.
inline std::vector<std::string> real_sentences() {
    std::vector<std::string> sentences;
    std::istringstream lines(read_file(test_data("tokenizer/sentences.txt")));
    for (std::string line; std::getline(lines, line);)
        sentences.push_back(line);
    return sentences;
}
inline std::string real_sequence() {
    std::string dna = read_file(test_data("tokenizer/sentences.txt"));
    std::erase(dna, '\n');
    return dna;
}
inline tokenizer::SentencePieceModel small_model() {
    return tokenizer::parse_sentencepiece_model(read_file(test_data("tokenizer/small.model")), "small.model");
}
inline tokenizer::BpeRules small_rules() {
    return bpe_rules_of(small_model(), "small.model");
}

}  // namespace bigbird::testing
