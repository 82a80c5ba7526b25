// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/encode/base_tokens.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

namespace bigbird::tokenizer {

namespace {

constexpr std::string_view bases = "ACGT";
constexpr std::size_t most_tokens = 65'000;

struct Position {
    std::uint64_t order;  // letters first
    Token number;
    bool operator<(const Position& other) const { return order < other.order; }
};

}  // namespace

std::optional<BaseTokens> BaseTokens::of(const ReachableTokens& tokens) {
    BaseTokens found;
    std::vector<Position> positions;
    for (tokenizer::Token number = 0; number < tokens.texts.size(); ++number) {
        const std::string& text = tokens.texts[number];
        if (text.find_first_not_of(bases) == std::string::npos) {
            const std::uint64_t order =
                text.size() == 1 ? bases.find(text) : letters + tokens.edges[number].rank;
            positions.push_back({order, number});
            if (text.size() > std::numeric_limits<std::uint8_t>::max()) {
                return std::nullopt;
            }
        } else if (text.find_first_of(bases) != std::string::npos) {
            found.mixed_ = true;
        }
    }
    std::sort(positions.begin(), positions.end());
    const auto equal = [](const Position& a, const Position& b) { return a.order == b.order; };
    if (positions.size() > most_tokens || positions.size() < letters ||
        positions[letters - 1].order != letters - 1 ||
        std::adjacent_find(positions.begin(), positions.end(), equal) != positions.end()) {
        return std::nullopt;
    }
    std::vector<Number> numbers(tokens.texts.size(), none);
    for (std::size_t i = 0; i < positions.size(); ++i) {
        numbers[positions[i].number] = static_cast<Number>(i);
    }
    found.ordered_ = positions.size();
    for (const Position& position : positions) {
        const ReachableTokens::Edges& edges = tokens.edges[position.number];
        Token token{.length = static_cast<std::uint8_t>(tokens.texts[position.number].size()),
                    .number = position.number};
        if (edges.left != no_token) {
            token.left = numbers[edges.left];
            token.right = numbers[edges.right];
        }
        if (edges.latest != edges.rank) {
            found.ordered_ = std::min(found.ordered_, found.tokens_.size());
        }
        found.tokens_.push_back(token);
    }
    found.index_pairs();
    return found;
}

void BaseTokens::index_pairs() {
    slots_.resize(std::bit_ceil(2 * tokens_.size()));
    mask_ = slots_.size() - 1;
    for (const Token& token : tokens_) {
        pairs_.push_back(std::uint32_t{token.left} << 16 | token.right);
    }
    for (std::size_t number = letters; number < tokens_.size(); ++number) {
        const std::uint32_t mixed = pairs_[number] * 0x9E3779B1U;
        std::size_t i = mixed >> 8 & mask_;
        while (slots_[i] != 0) {
            i = (i + 1) & mask_;
        }
        slots_[i] = mixed << 16 | static_cast<std::uint32_t>(number);
    }
}

}  // namespace bigbird::tokenizer
