// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/encode/prefix_tokens.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <iterator>
#include <limits>
#include <numeric>
#include <string>
#include <string_view>

namespace bigbird::tokenizer {

namespace {

constexpr std::string_view bases = "ACGT";
constexpr std::size_t most_tokens = 65'000;

struct Position {
    std::uint64_t order;  // letters first
    Token number;
};

using Number = BaseTokens::Number;

constexpr std::size_t first_horizon = 16,
                      last_horizon = 16 << 5;  // number of letters to look ahead in ambiguous cases
constexpr std::size_t fewest_in_parts = 512;   // letters

std::size_t short_count(const BaseTokens& tokens, std::size_t most) {
    std::size_t count = BaseTokens::letters;
    while (count < std::min({tokens.ordered(), most, PrefixTokens::highest_count}) &&
           tokens[count].length <= PrefixTokens::longest)
        ++count;
    return count;
}

// The letters of the first tokens, two bits each, the first in the lowest.
std::vector<std::uint32_t> spelt_letters(const BaseTokens& tokens, std::size_t count) {
    std::vector<std::uint32_t> spelt(count);
    for (std::size_t token = 0; token < count; ++token) {
        const BaseTokens::Token& known = tokens[token];
        spelt[token] = token < BaseTokens::letters
                           ? static_cast<std::uint32_t>(token)
                           : spelt[known.left] | spelt[known.right] << (2 * tokens[known.left].length);
    }
    return spelt;
}

// For texts of up to `most` letters, by length and letters: all tokens that can begin the encoding of the
// text, with or without further letters after it; shorter ones first. A token can begin it in two cases: the
// text is a prefix of the token; or the token is a prefix of the text, and is compatible with a token that
// can begin the rest.
std::vector<std::vector<std::vector<Number>>> candidate_sets(const BaseTokens& tokens, std::size_t count,
                                                             std::span<const std::uint32_t> spelt,
                                                             const std::vector<bool>& apart,
                                                             std::size_t most) {
    std::vector<Number> by_length(count);
    std::iota(by_length.begin(), by_length.end(), Number{0});
    std::ranges::stable_sort(by_length, {}, [&](Number token) { return tokens[token].length; });
    std::vector<std::vector<std::vector<Number>>> sets(most + 1);
    for (std::size_t length = 1; length <= most; ++length) {
        std::vector<std::vector<Number>>& words = sets[length];
        words.resize(std::size_t{1} << (2 * length));
        for (const Number token : by_length) {
            const std::size_t own = tokens[token].length;
            if (own >= length) {
                words[spelt[token] & (words.size() - 1)].push_back(token);
                continue;
            }
            const std::vector<std::vector<Number>>& rests = sets[length - own];
            for (std::size_t rest = 0; rest < rests.size(); ++rest)
                if (std::ranges::any_of(rests[rest], [&](Number n) { return apart[token * count + n]; }))
                    words[spelt[token] | rest << (2 * own)].push_back(token);
        }
    }
    return sets;
}

// By [left * count + right]: whether two of the first tokens are compatible, if only merges of these tokens
// are made. Computed from the previous stage (encoder_tables.hpp): undoes the merge that made the later of
// the two. Ranks ascend along a token's stages, so a token's number is the bound of the stage before it.
std::vector<bool> compatible_pairs(const BaseTokens& tokens, std::size_t count) {
    constexpr Number crossed_before = 0;
    std::vector<Number> crossing(count * count, BaseTokens::none);
    for (std::size_t token = BaseTokens::letters; token < count; ++token)
        crossing[tokens[token].left * count + tokens[token].right] = static_cast<Number>(token);
    std::vector<bool> apart(count * count);
    for (std::size_t left = 0; left < count; ++left) {
        for (std::size_t right = 0; right < count; ++right) {
            Number& pair = crossing[left * count + right];
            bool crossed = false;
            if (left >= BaseTokens::letters && left > right)
                crossed = crossing[tokens[left].right * count + right] < left;
            else if (right >= BaseTokens::letters)
                crossed = crossing[left * count + tokens[right].left] <= right;
            pair = crossed ? crossed_before : pair;
            apart[left * count + right] = pair == BaseTokens::none;
        }
    }
    return apart;
}

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
            if (text.size() > std::numeric_limits<std::uint8_t>::max()) return std::nullopt;
        } else if (text.find_first_of(bases) != std::string::npos) {
            found.mixed_ = true;
        }
    }
    std::ranges::sort(positions, {}, &Position::order);
    if (positions.size() > most_tokens || positions.size() < letters ||
        positions[letters - 1].order != letters - 1 ||
        std::ranges::adjacent_find(positions, {}, &Position::order) != positions.end())
        return std::nullopt;
    std::vector<Number> numbers(tokens.texts.size(), none);
    for (std::size_t i = 0; i < positions.size(); ++i)
        numbers[positions[i].number] = static_cast<Number>(i);
    found.ordered_ = positions.size();
    for (const Position& position : positions) {
        const ReachableTokens::Edges& edges = tokens.edges[position.number];
        Token token{.length = static_cast<std::uint8_t>(tokens.texts[position.number].size()),
                    .number = position.number};
        if (edges.left != no_token) {
            token.left = numbers[edges.left];
            token.right = numbers[edges.right];
        }
        if (edges.latest != edges.rank) found.ordered_ = std::min(found.ordered_, found.tokens_.size());
        found.tokens_.push_back(token);
    }
    found.index_pairs();
    return found;
}

void BaseTokens::index_pairs() {
    slots_.resize(std::bit_ceil(2 * tokens_.size()));
    mask_ = slots_.size() - 1;
    for (const Token& token : tokens_)
        pairs_.push_back(std::uint32_t{token.left} << 16 | token.right);
    for (std::size_t number = letters; number < tokens_.size(); ++number) {
        const std::uint32_t mixed = pairs_[number] * 0x9E3779B1U;
        std::size_t i = mixed >> 8 & mask_;
        while (slots_[i] != 0)
            i = (i + 1) & mask_;
        slots_[i] = mixed << 16 | static_cast<std::uint32_t>(number);
    }
}

PrefixTokens::PrefixTokens(const BaseTokens& tokens, std::size_t most)
    : count_(short_count(tokens, most)),
      spelt_(spelt_letters(tokens, count_)),
      compatible_(compatible_pairs(tokens, count_)) {
    static_assert(highest_count <= 1U << number_bits && longest <= 16);
    const auto sets = candidate_sets(tokens, count_, spelt_, compatible_, known_letters);
    const auto candidate = [&](Number token) {
        return static_cast<Candidate>(token | (tokens[token].length - 1) << number_bits);
    };
    candidates_.resize(std::size_t{1} << (2 * known_letters));
    lists_.assign(2, 0);  // the first list is empty, for words without their own list
    for (std::size_t word = 0; word < candidates_.size(); ++word) {
        const std::vector<Number>& set = sets[known_letters][word];
        if (set.size() == 1) {
            candidates_[word] = candidate(set.front());
            continue;
        }
        candidates_[word] = ambiguous;
        if (lists_.size() < ambiguous) {
            candidates_[word] = static_cast<Candidate>(ambiguous | (lists_.size() - 1));
            std::transform(set.begin(), set.end(), std::back_inserter(ambiguous_), candidate);
            lists_.push_back(static_cast<std::uint32_t>(ambiguous_.size()));
        }
    }
}

PrefixTokens::Candidate PrefixTokens::candidate_at(const std::uint8_t* packed, std::size_t position) const {
    std::uint32_t word = 0;
    std::memcpy(&word, packed + position / 4, sizeof word);
    return candidates_[word >> (2 * (position % 4)) & 0xFFFF];
}

std::span<const PrefixTokens::Candidate> PrefixTokens::candidates_of(Candidate doubt) const {
    const std::size_t list = doubt ^ ambiguous;
    return std::span(ambiguous_).subspan(lists_[list], lists_[list + 1] - lists_[list]);
}

// Whether the letters from `position` on are those of the candidate, whose first eight are known to be.
bool PrefixTokens::spelt_at(const std::uint8_t* packed, std::size_t position, Candidate candidate) const {
    const std::size_t length = length_of(candidate);
    if (length <= known_letters) return true;
    std::uint64_t letters = 0;
    std::memcpy(&letters, packed + position / 4, sizeof letters);
    const std::uint64_t differing = letters >> (2 * (position % 4)) ^ spelt_[number_of(candidate)];
    return (differing & ((std::uint64_t{1} << (2 * length)) - 1)) == 0;
}

// Whether a sequence of compatible tokens leads from `position`, after the token `before`, to `limit`.
bool PrefixTokens::goes_on(const std::uint8_t* packed, std::size_t position, std::size_t limit,
                           Number before) const {
    while (position < limit) {
        const Candidate candidate = candidate_at(packed, position);
        if (candidate >= ambiguous) {
            const auto candidates = candidates_of(candidate);
            return std::any_of(candidates.begin(), candidates.end(), [&](Candidate next) {
                return apart(before, number_of(next)) && spelt_at(packed, position, next) &&
                       goes_on(packed, position + length_of(next), limit, number_of(next));
            });
        }
        if (!apart(before, number_of(candidate)) || !spelt_at(packed, position, candidate)) return false;
        before = number_of(candidate);
        position += length_of(candidate);
    }
    return true;
}

// The only candidate from which a sequence of tokens can continue, found by looking further and further
// ahead; ambiguous if that does not decide. Tries shorter tokens first, because they are wrong more often; if
// all others are wrong, the last one need not be tried.
PrefixTokens::Candidate PrefixTokens::settle(const std::uint8_t* packed, std::size_t position,
                                             std::size_t size, Candidate doubt) const {
    const std::span<const Candidate> candidates = candidates_of(doubt);
    for (std::size_t horizon = first_horizon;
         horizon <= last_horizon && position + horizon + known_letters <= size; horizon *= 2) {
        Candidate found = ambiguous;
        std::size_t going_on = 0;
        for (const Candidate& candidate : candidates) {
            if ((going_on == 0 && &candidate == &candidates.back()) ||
                (spelt_at(packed, position, candidate) &&
                 goes_on(packed, position + length_of(candidate), position + horizon,
                         number_of(candidate)))) {
                found = candidate;
                ++going_on;
            }
        }
        if (going_on == 1) return found;
    }
    return ambiguous;
}

// The candidate for the text that begins at `position`; ambiguous if it cannot be determined, or near the
// end.
PrefixTokens::Candidate PrefixTokens::next(const std::uint8_t* packed, std::size_t position,
                                           std::size_t size) const {
    if (position + known_letters > size) return ambiguous;
    const Candidate candidate = candidate_at(packed, position);
    return candidate < ambiguous ? candidate : settle(packed, position, size, candidate);
}

// Cuts from `part.position` on, until `part.end` or an ambiguous position.
void PrefixTokens::advance(const std::uint8_t* packed, std::size_t size, Part& part) const {
    const Candidate candidate = next(packed, part.position, size);
    if (candidate == ambiguous) {
        part.end = part.position;
        return;
    }
    *part.last++ = candidate;
    part.position += length_of(candidate);
}

// Follows the text from its start through its parts. When it reaches a position that a part has also reached,
// both continue with the same tokens. Returns the position after the last token.
std::size_t PrefixTokens::follow(const std::uint8_t* packed, std::size_t size, std::span<const Part> parts,
                                 std::vector<Number>::iterator& out) const {
    std::size_t position = 0;
    for (const Part& part : parts) {
        const Candidate* at = part.first;
        std::size_t theirs = part.begin;
        while (theirs != position && at != part.last) {
            if (theirs < position) {
                theirs += length_of(*at++);
                continue;
            }
            const Candidate candidate = next(packed, position, size);
            if (candidate == ambiguous) return position;
            *out++ = number_of(candidate);
            position += length_of(candidate);
        }
        if (theirs == position) {
            out = std::transform(at, static_cast<const Candidate*>(part.last), out, number_of);
            position = part.position;
        }
    }
    return position;
}

// Each look-up waits for the previous one, so several parts are cut alternately, each from its own beginning,
// and are then followed from the start.
std::size_t PrefixTokens::cut(const std::uint8_t* packed, std::size_t size,
                              std::vector<Number>& tokens) const {
    thread_local std::vector<Candidate> candidates;
    candidates.resize(size);
    std::array<Part, 4> parts;
    const std::size_t used = size < fewest_in_parts ? 1 : parts.size();
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const std::size_t begin = std::min(size * i / used, size),
                          end = std::min(size * (i + 1) / used, size);
        Candidate* const first = candidates.data() + begin;
        parts[i] = {.begin = begin, .end = end, .position = begin, .first = first, .last = first};
    }
    const auto going = [](const Part& part) { return part.position < part.end; };
    while (std::all_of(parts.begin(), parts.end(), going))
        for (Part& part : parts)
            advance(packed, size, part);
    for (Part& part : parts)
        while (going(part))
            advance(packed, size, part);
    const std::size_t before = tokens.size();
    tokens.resize(before + size);
    auto out = tokens.begin() + static_cast<std::ptrdiff_t>(before);
    const std::size_t position = follow(packed, size, parts, out);
    tokens.erase(out, tokens.end());
    return position;
}

}  // namespace bigbird::tokenizer
