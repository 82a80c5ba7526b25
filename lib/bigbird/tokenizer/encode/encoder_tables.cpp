// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/encode/encoder_tables.hpp"

#include "bigbird/core/check.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>

namespace bigbird::tokenizer {

TokenMatcher::TokenMatcher(std::span<const std::string> tokens) {
    numbers_.fill(unknown_letter);
    std::array<bool, 256> used{};
    for (const std::string& token : tokens)
        for (const char letter : token)
            used[static_cast<unsigned char>(letter)] = true;
    const auto number = [&](unsigned char letter) {
        if (!used[letter] || numbers_[letter] != unknown_letter) return;
        BIGBIRD_EXPECTS(letters_ < unknown_letter, "more letters than a byte counts");
        numbers_[letter] = static_cast<std::uint8_t>(letters_++);
    };
    for (const char letter : {'A', 'C', 'G', 'T'})  // so that stretches of them take the eight-letter look-up
        number(static_cast<unsigned char>(letter));
    for (std::size_t letter = 0; letter < used.size(); ++letter)
        number(static_cast<unsigned char>(letter));
    long_.nodes.resize(2 * letters_);
    for (std::size_t token = 0; token < tokens.size(); ++token)
        insert(tokens[token], static_cast<Token>(token));
    fill_jumps();
    shorten();
}

void TokenMatcher::insert(std::string_view text, Token token) {
    std::size_t node = 1, slot = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        slot = node * letters_ + letter_number(text[i]);
        if (i + 1 == text.size()) break;
        if (long_.nodes[slot].node == 0) {
            long_.nodes[slot].node = static_cast<std::uint32_t>(long_.nodes.size() / letters_);
            long_.nodes.resize(long_.nodes.size() + letters_);
        }
        node = long_.nodes[slot].node;
    }
    long_.nodes[slot].token = token;
}

void TokenMatcher::fill_jumps() {
    long_.jumps.resize(std::size_t{1} << (2 * jump));
    for (std::size_t word = 0; word < long_.jumps.size(); ++word) {
        Match<std::uint32_t> match{1, no_token};
        Token best = no_token;
        for (std::size_t i = 0; i < jump && match.node != 0; ++i) {
            const std::size_t letter = word >> (2 * i) & 3;
            match = letter < letters_ ? long_.nodes[match.node * letters_ + letter] : Match<std::uint32_t>{};
            best = match.token != no_token ? match.token : best;
        }
        long_.jumps[word] = {match.node, best};
    }
}

// Matching mostly waits for memory, so halving the memory helps.
void TokenMatcher::shorten() {
    constexpr std::uint32_t most = Match<std::uint16_t>::none;
    const auto too_large = [](const Match<std::uint32_t>& match) {
        return match.node >= most || (match.token != no_token && match.token >= most);
    };
    if (std::any_of(long_.nodes.begin(), long_.nodes.end(), too_large)) return;
    const auto shortened = [](const std::vector<Match<std::uint32_t>>& matches) {
        std::vector<Match<std::uint16_t>> halves;
        halves.reserve(matches.size());
        for (const Match<std::uint32_t>& match : matches)
            halves.push_back(
                {static_cast<std::uint16_t>(match.node), static_cast<std::uint16_t>(match.token)});
        return halves;
    };
    short_ = {shortened(long_.nodes), shortened(long_.jumps)};
    long_ = {};
}

namespace {

constexpr std::size_t small_length = 4;
constexpr std::size_t most_small = 512;
constexpr std::size_t most_short_numbers = 65'000;

// Ranks and bounds count from 1 here. The last number means none.
template <typename Number>
inline constexpr Number last_of = static_cast<Number>(~Number{0});

// Ranks of merges, preceded by a bit set that excludes most pairs without a merge. Of the rules that give a
// token, only one is ever applied, since its letters merge in a text as they do alone.
template <typename Number>
class MergeTable {
public:
    explicit MergeTable(std::size_t merges)
        : slots_(merges + merges / 2 + 8), filter_(std::bit_ceil(merges * 8 + 64) / 64) {
        filter_shift_ = 64U - static_cast<unsigned>(std::bit_width(filter_.size() * 64) - 1);
    }

    void add(Number left, Number right, Number rank) {
        const std::uint64_t mixed = mix(left, right), bit = mixed >> filter_shift_;
        filter_[bit >> 6] |= std::uint64_t{1} << (bit & 63);
        std::size_t i = home(mixed);
        while (slots_[i].rank != 0)
            i = i + 1 == slots_.size() ? 0 : i + 1;
        slots_[i] = {left, right, rank};
    }

    Number rank(Number left, Number right) const {
        const std::uint64_t mixed = mix(left, right), bit = mixed >> filter_shift_;
        if ((filter_[bit >> 6] >> (bit & 63) & 1) == 0) return last_of<Number>;
        for (std::size_t i = home(mixed); slots_[i].rank != 0; i = i + 1 == slots_.size() ? 0 : i + 1)
            if (slots_[i].left == left && slots_[i].right == right) return slots_[i].rank;
        return last_of<Number>;
    }

private:
    struct Slot {
        Number left = 0, right = 0, rank = 0;
    };
    static std::uint64_t mix(Number left, Number right) {
        return (std::uint64_t{left} << 32 | right) * 0x9E3779B97F4A7C15ULL;
    }
    std::size_t home(std::uint64_t mixed) const { return (mixed >> 32) * slots_.size() >> 32; }

    std::vector<Slot> slots_;
    std::vector<std::uint64_t> filter_;
    unsigned filter_shift_;
};

template <typename Number>
class PackedTables final : public EncoderTables {
public:
    explicit PackedTables(const ReachableTokens& tokens)
        : EncoderTables(tokens),
          edges_(tokens.texts.size()),
          shapes_(tokens.texts.size()),
          merges_(tokens.texts.size()) {
        for (std::size_t i = 0; i < edges_.size(); ++i) {
            const ReachableTokens::Edges& edges = tokens.edges[i];
            if (edges.right != no_token) {
                edges_[i] = {static_cast<Number>(edges.right), static_cast<Number>(edges.left),
                             static_cast<Number>(edges.right_bound + 1),
                             static_cast<Number>(edges.left_bound + 1),
                             static_cast<Number>(edges.latest + 1)};
                merges_.add(edges_[i].left, edges_[i].right, static_cast<Number>(edges.rank + 1));
            }
            shapes_[i].length = static_cast<Number>(tokens.texts[i].size());
            if (tokens.shorter[i] != no_token) shapes_[i].shorter = static_cast<Number>(tokens.shorter[i]);
        }
        while (small_count_ < std::min(shapes_.size(), most_small) &&
               shapes_[small_count_].length <= small_length)
            ++small_count_;
        fill_small();
    }

    void encode(const std::uint8_t* letters, std::size_t size, std::vector<TokenAt>& tokens) const override {
        thread_local std::vector<std::uint8_t> dead;  // dead-end positions
        dead.assign(size + 1, 0);
        const std::size_t first = tokens.size();
        std::size_t position = 0;
        Number candidate = size > 0 ? static_cast<Number>(matcher_.longest(letters, size)) : last_of<Number>;
        while (position < size) {
            Shape shape;
            for (; candidate != last_of<Number>; candidate = shape.shorter) {
                shape = shapes_[candidate];
                matcher_.prefetch(letters + std::min<std::size_t>(position + shape.length, size));
                if (dead[position + shape.length] == 0 &&
                    (tokens.size() == first || apart(static_cast<Number>(tokens.back().token), candidate)))
                    break;
            }
            if (candidate != last_of<Number>) {
                tokens.push_back({static_cast<std::uint32_t>(position), candidate});
                position += shape.length;
                if (position < size)
                    candidate = static_cast<Number>(matcher_.longest(letters + position, size - position));
            } else {
                BIGBIRD_EXPECTS(tokens.size() > first, "letters without an encoding");
                dead[position] = 1;
                position = tokens.back().begin;
                candidate = shapes_[tokens.back().token].shorter;
                tokens.pop_back();
            }
        }
    }

private:
    struct Edges {
        Number right = 0, left = 0, right_bound = 0, left_bound = 0,
               latest = 0;  // ranks from 1; 0 for letters
    };
    struct Shape {
        Number length = 0, shorter = last_of<Number>;
    };

    // In order of length, so that the previous stage is known.
    void fill_small() {
        const std::size_t count = small_count_;
        std::vector<std::size_t> order(count * count);
        std::iota(order.begin(), order.end(), std::size_t{0});
        const auto letters = [&](std::size_t pair) {
            return shapes_[pair / count].length + shapes_[pair % count].length;
        };
        std::ranges::stable_sort(order, {}, letters);
        small_.resize(count * count);
        for (const std::size_t pair : order) {
            const auto left = static_cast<Number>(pair / count), right = static_cast<Number>(pair % count);
            const Edges &l = edges_[left], &r = edges_[right];
            bool crossed = false;
            if (l.latest > r.latest)
                crossed = small_[l.right * count + right] < l.right_bound;
            else if (r.latest > 0)
                crossed = small_[left * count + r.left] <= r.left_bound;
            small_[pair] = crossed ? Number{0} : merges_.rank(left, right);
        }
    }

    // Compatibility, from the last stage back to the letters. The stages before a token's last are the stages
    // of the previous token at its edge. The token whose highest merge comes later was made last, the right
    // one if they are equal. Going back over a merge inside the left token, what counts is whether a merge
    // across comes earlier; inside the right token also one of equal rank, since it is further left. The
    // other token's bound is later and need not be checked.
    bool apart(Number left, Number right) const {
        std::uint32_t limit = last_of<Number>;
        while (left >= small_count_ || right >= small_count_) {
            if (merges_.rank(left, right) < limit) return false;
            const Edges l = edges_[left], r = edges_[right];
            if (l.latest > r.latest) {
                left = l.right;
                limit = l.right_bound;
            } else {
                right = r.left;
                limit = r.left_bound + 1U;
            }
        }
        return small_[left * small_count_ + right] >= limit;
    }

    std::vector<Edges> edges_;
    std::vector<Shape> shapes_;
    MergeTable<Number> merges_;
    std::size_t small_count_ = 0;
    std::vector<Number>
        small_;  // [left * small_count_ + right]: the rank, or 0 if a merge crosses an earlier stage
};

struct Step {
    std::size_t at = 0;
    BpeRules::Merge merge;
};

Step first_merge(const BpeRules& rules, const std::vector<Token>& tokens) {
    Step best;
    for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
        const BpeRules::Merge merge = rules.merge(tokens[i], tokens[i + 1]);
        if (merge.rank < best.merge.rank) best = {i, merge};
    }
    return best;
}

// Encodes the token's own letters by the rules, slowly and plainly. Returns nullopt if the result is not the
// token: then no encoding contains it. `left` and `right` are the rules' tokens.
std::optional<ReachableTokens::Edges> trace(const BpeRules& rules, Token token) {
    std::vector<Token> tokens;
    for (const char letter : rules.texts[token]) {
        tokens.push_back(rules.letters[static_cast<unsigned char>(letter)]);
        if (tokens.back() == no_token) return std::nullopt;
    }
    ReachableTokens::Edges edges;
    const auto note = [&](Token& at_edge, std::uint32_t& bound, Token now) {
        bound = std::max(at_edge == now ? bound : 0, edges.rank);
        at_edge = now;
    };
    for (Step step = first_merge(rules, tokens); step.merge.rank != never;
         step = first_merge(rules, tokens)) {
        edges.rank = step.merge.rank;
        edges.latest = std::max(edges.latest, edges.rank);
        note(edges.left, edges.left_bound, tokens.front());
        note(edges.right, edges.right_bound, tokens.back());
        tokens[step.at] = step.merge.merged;
        tokens.erase(tokens.begin() + static_cast<std::ptrdiff_t>(step.at) + 1);
    }
    // If several tokens are left, the first is shorter.
    return tokens.front() == token ? std::optional(edges) : std::nullopt;
}

}  // namespace

ReachableTokens::ReachableTokens(const BpeRules& rules) : number_of(rules.size(), no_token) {
    std::vector<std::optional<Edges>> traces(rules.size());
    std::vector<Token> found;
    for (Token token = 0; token < rules.size(); ++token) {
        traces[token] = trace(rules, token);
        if (traces[token])
            found.push_back(token);
        else
            lost.push_back(rules.ids[token]);
    }
    std::ranges::sort(lost);
    std::ranges::stable_sort(found, {}, [&](Token token) { return rules.texts[token].size(); });
    for (const Token token : found) {
        number_of[token] = static_cast<Token>(texts.size());
        texts.push_back(rules.texts[token]);
        ids.push_back(rules.ids[token]);
        longest = std::max(longest, texts.back().size());
        Edges& edge = edges.emplace_back(*traces[token]);
        if (edge.right != no_token) {
            edge.right = number_of[edge.right];
            edge.left = number_of[edge.left];
        }
        Token prefix = no_token;
        for (std::size_t length = texts.back().size() - 1; length > 0 && prefix == no_token; --length) {
            const std::optional<Token> known = rules.find(std::string_view(texts.back()).substr(0, length));
            prefix = known ? number_of[*known] : no_token;
        }
        shorter.push_back(prefix);
    }
}

std::unique_ptr<const EncoderTables> make_encoder_tables(const ReachableTokens& tokens) {
    std::uint32_t highest = 0;
    for (const ReachableTokens::Edges& edges : tokens.edges)
        highest = std::max(highest, edges.latest);
    if (tokens.texts.size() < most_short_numbers && highest < most_short_numbers &&
        tokens.longest < most_short_numbers)
        return std::make_unique<PackedTables<std::uint16_t>>(tokens);
    return std::make_unique<PackedTables<std::uint32_t>>(tokens);
}

}  // namespace bigbird::tokenizer
