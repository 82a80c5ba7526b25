// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/encode/bpe_rules.hpp"

#include "bigbird/core/check.hpp"

#include <functional>

namespace bigbird::tokenizer {

namespace {

constexpr std::size_t first_slots = 64;

}  // namespace

BpeRules::BpeRules() : slots_(first_slots), by_text_(first_slots, no_token) {
    letters.fill(no_token);
}

std::size_t BpeRules::text_home(std::string_view text) const {
    return std::hash<std::string_view>{}(text) & (by_text_.size() - 1);
}

void BpeRules::index_text(Token token) {
    std::size_t i = text_home(texts[token]);
    while (by_text_[i] != no_token) {
        i = (i + 1) & (by_text_.size() - 1);
    }
    by_text_[i] = token;
}

Token BpeRules::add(std::string_view text, std::int32_t id) {
    BIGBIRD_EXPECTS(!text.empty() && !find(text), "a token's text must be new");
    const auto token = static_cast<Token>(texts.size());
    texts.emplace_back(text);
    ids.push_back(id);
    if (text.size() == 1) {
        letters[static_cast<unsigned char>(text[0])] = token;
    }
    if (texts.size() * 2 > by_text_.size()) {
        by_text_.assign(by_text_.size() * 2, no_token);
        for (Token known = 0; known < token; ++known) {
            index_text(known);
        }
    }
    index_text(token);
    return token;
}

std::optional<Token> BpeRules::find(std::string_view text) const {
    for (std::size_t i = text_home(text); by_text_[i] != no_token; i = (i + 1) & (by_text_.size() - 1)) {
        if (texts[by_text_[i]] == text) {
            return by_text_[i];
        }
    }
    return std::nullopt;
}

std::size_t BpeRules::home(Token left, Token right) const {
    const std::uint64_t key = std::uint64_t{left} << 32 | right;
    return ((key * 0x9E3779B97F4A7C15ULL) >> 32) & (slots_.size() - 1);
}

void BpeRules::grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    merges_ = 0;
    for (const Slot& slot : old) {
        if (slot.merge.rank != never) {
            add_merge(slot.left, slot.right, slot.merge.rank, slot.merge.merged);
        }
    }
}

void BpeRules::add_merge(Token left, Token right, std::uint32_t rank, Token merged) {
    if ((merges_ + 1) * 2 > slots_.size()) {
        grow();
    }
    std::size_t i = home(left, right);
    while (slots_[i].merge.rank != never) {
        if (slots_[i].left == left && slots_[i].right == right) {
            return;
        }
        i = (i + 1) & (slots_.size() - 1);
    }
    slots_[i] = {left, right, {rank, merged}};
    ++merges_;
}

BpeRules::Merge BpeRules::merge(Token left, Token right) const {
    for (std::size_t i = home(left, right); slots_[i].merge.rank != never;
         i = (i + 1) & (slots_.size() - 1)) {
        if (slots_[i].left == left && slots_[i].right == right) {
            return slots_[i].merge;
        }
    }
    return {};
}

}  // namespace bigbird::tokenizer
