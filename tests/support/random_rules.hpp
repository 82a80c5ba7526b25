// SPDX-License-Identifier: Apache-2.0
// Texts and rules to hold an encoder against.
#pragma once

#include "bigbird/core/rng.hpp"
#include "bigbird/tokenizer/encode/bpe_rules.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace bigbird::testing {

inline std::size_t random_number(Rng& rng, std::size_t below) {
    return static_cast<std::size_t>(rng.between(0, static_cast<std::int64_t>(below) - 1));
}

/// Texts of rising length, with repeats of every phase; the first is empty.
inline std::vector<std::string> random_texts(Rng& rng, const std::string& letters, int count = 60,
                                             std::size_t step = 3) {
    std::vector<std::string> texts{""};
    for (int i = 0; i < count; ++i) {
        std::string& text = texts.emplace_back();
        const std::size_t unit = 1 + random_number(rng, 6);
        while (text.size() < static_cast<std::size_t>(i) * step + 1) {
            text += rng.uniform() < 0.7 && text.size() >= unit ? text[text.size() - unit]
                                                               : letters[random_number(rng, letters.size())];
        }
    }
    return texts;
}

/// Pieces in any order, merged from any two: tokens that cannot be reached, merges that wait for each other,
/// ranks that fall inside a token. Stranger than training makes them. `any_split`: any two tokens that spell
/// a third are merged, as in SentencePiece's models; else one pair alone, as in Hugging Face's. Ranks vary
/// more the greater `spread` is.
inline tokenizer::BpeRules random_rules(Rng& rng, std::size_t size, bool any_split, std::uint32_t spread,
                                        const std::string& letters = "ACGT") {
    using tokenizer::Token;
    tokenizer::BpeRules rules;
    for (const char letter : letters) {
        rules.add(std::string(1, letter), static_cast<std::int32_t>(rules.size()));
    }
    while (rules.size() < size) {
        const auto left = static_cast<Token>(random_number(rng, rules.size())),
                   right = static_cast<Token>(random_number(rng, rules.size()));
        const std::string text = rules.texts[left] + rules.texts[right];
        if (text.size() > 12 || rules.find(text)) {
            continue;
        }
        const Token merged = rules.add(text, static_cast<std::int32_t>(rules.size()));
        const auto rank = static_cast<std::uint32_t>(random_number(rng, 6)) * spread + merged;
        rules.add_merge(left, right, rank, merged);
        for (std::size_t cut = 1; any_split && cut < text.size(); ++cut) {
            const auto l = rules.find(text.substr(0, cut)), r = rules.find(text.substr(cut));
            if (l && r) {
                rules.add_merge(*l, *r, rank, merged);
            }
        }
    }
    return rules;
}

}  // namespace bigbird::testing
