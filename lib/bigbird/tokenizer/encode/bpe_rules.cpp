// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/encode/bpe_rules.hpp"

#include "bigbird/core/check.hpp"

#include <functional>
#include <utility>

namespace bigbird::tokenizer {

BpeRules::BpeRules() : slots_(64), by_text_(64, no_token) {
    letters.fill(no_token);
}

std::size_t BpeRules::slot_of(std::string_view text) const {
    const std::size_t last = by_text_.size() - 1;
    std::size_t i = std::hash<std::string_view>{}(text)&last;
    while (by_text_[i] != no_token && texts[by_text_[i]] != text)
        i = (i + 1) & last;
    return i;
}

Token BpeRules::add(std::string_view text, std::int32_t id) {
    const auto token = static_cast<Token>(texts.size());
    BIGBIRD_EXPECTS(!text.empty() && !find(text), "a token's text must be new");
    if ((texts.size() + 1) * 2 > by_text_.size()) {
        by_text_.assign(by_text_.size() * 2, no_token);
        for (Token known = 0; known < token; ++known)
            by_text_[slot_of(texts[known])] = known;
    }
    by_text_[slot_of(text)] = token;
    texts.emplace_back(text);
    ids.push_back(id);
    if (text.size() == 1) letters[static_cast<unsigned char>(text[0])] = token;
    return token;
}

std::optional<Token> BpeRules::find(std::string_view text) const {
    const Token found = by_text_[slot_of(text)];
    return found == no_token ? std::nullopt : std::optional(found);
}

std::size_t BpeRules::slot_of(Token left, Token right) const {
    const std::size_t last = slots_.size() - 1;
    std::size_t i = (((std::uint64_t{left} << 32 | right) * 0x9E3779B97F4A7C15ULL) >> 32) & last;
    while (slots_[i].merge.rank != never && (slots_[i].left != left || slots_[i].right != right))
        i = (i + 1) & last;
    return i;
}

void BpeRules::add_merge(Token left, Token right, std::uint32_t rank, Token merged) {
    if ((merges_ + 1) * 2 > slots_.size()) {
        for (const Slot& slot : std::exchange(slots_, std::vector<Slot>(slots_.size() * 2)))
            if (slot.merge.rank != never) slots_[slot_of(slot.left, slot.right)] = slot;
    }
    Slot& slot = slots_[slot_of(left, right)];
    if (slot.merge.rank != never) return;
    slot = {left, right, {rank, merged}};
    ++merges_;
}

BpeRules::Merge BpeRules::merge(Token left, Token right) const {
    return slots_[slot_of(left, right)].merge;
}

}  // namespace bigbird::tokenizer
