// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/train/merges/sweep_merges.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <tuple>

namespace bigbird::tokenizer {

namespace {

// A sweep over a thousand symbols takes as long as following one listed position
// (docs/development/measurements.md).
constexpr std::uint64_t swept_per_position = 1000;

class SweepMerges {
public:
    SweepMerges(PackedTokens& tokens, LearntSymbols& symbols, const LearnSpec& spec, ThreadTeam& team)
        : tokens_(tokens),
          symbols_(symbols),
          spec_(spec),
          team_(team),
          counts_(width * width),
          mergeable_(width * width) {
        const auto pairs = tokens_.count_letter_pairs(team_);
        met_ = TokenArray::letters;
        for (Symbol left = 0; left < TokenArray::letters; ++left) {
            for (Symbol right = 0; right < TokenArray::letters; ++right) {
                count(left, right) = pairs[left * std::size_t{TokenArray::letters} + right];
                mergeable_[left * width + right] = symbols_.short_enough(left, right);
                note_met(left, right);
            }
            runs_[left] = {count(left, left), alternate()};
        }
    }

    SweptPairs run(const std::function<void()>& advance) {
        const auto most = static_cast<std::size_t>(std::min<std::int64_t>(spec_.merges, spec_.most_sweeps));
        while (symbols_.merges() < most && (certain_ || !spec_.only_certain)) {
            const bool refresh = symbols_.merges() % pieces_between_refreshes == 0;
            if (refresh) refresh_active();
            const std::vector<CountedPair> batch = choose();
            if (batch.empty() || (refresh && batch[0].count * swept_per_position <= tokens_.size())) break;
            if (batch[0].recount) {
                const Symbol symbol = batch[0].left;
                const auto number = static_cast<std::uint8_t>(symbol);
                runs_[symbol] = {tokens_.count_runs(number, odd_runs(symbol), team_), false};
                continue;
            }
            merge(batch);
            advance();
        }
        SweptPairs swept{.pairs = pairs(), .odd_runs = {}, .met = met_, .certain = certain_};
        for (std::size_t symbol = 0; symbol < symbols_.size(); ++symbol)
            swept.odd_runs.push_back(odd_runs(symbol));
        return swept;
    }

private:
    static constexpr std::size_t width = 256;
    std::uint64_t& count(std::size_t left, std::size_t right) { return counts_[left * width + right]; }
    bool alternate() const { return spec_.counting == OverlapCounting::alternate; }

    // The accepted pairs that occur, with their counts by the counting rule.
    template <typename Accept>
    std::vector<CountedPair> counted(const Accept& accept) {
        std::vector<CountedPair> pairs;
        for (std::size_t left = 0; left < symbols_.size(); ++left) {
            for (std::size_t right = 0; right < symbols_.size(); ++right) {
                const CountedPair pair{static_cast<Symbol>(left), static_cast<Symbol>(right),
                                       left == right ? runs_[left].count : count(left, right),
                                       left == right && runs_[left].recount};
                if (pair.count > 0 && accept(pair)) pairs.push_back(pair);
            }
        }
        return pairs;
    }

    std::vector<CountedPair> pairs() {
        std::vector<CountedPair> pairs =
            counted([this](const CountedPair& pair) { return symbols_.short_enough(pair.left, pair.right); });
        std::ranges::sort(pairs, {}, &CountedPair::age);
        return pairs;
    }

    void refresh_active() {
        std::vector<CountedPair> known = pairs();
        const std::size_t active = active_pairs(met_);
        active_above_ = 0;
        if (known.size() > active) {
            const auto ranked = known.begin() + static_cast<std::ptrdiff_t>(active);
            std::ranges::nth_element(known, ranked, std::greater<>(), &CountedPair::count);
            active_above_ = ranked->count;
        }
        made_since_ = symbols_.size();
    }

    // The best pairs that may be merged, best first; those below half of the best one's frequency are left
    // out.
    std::vector<CountedPair> ranked() {
        std::vector<CountedPair> pairs =
            counted([this](const CountedPair& pair) { return mergeable_[pair.left * width + pair.right]; });
        std::uint64_t most = 0;
        for (const CountedPair& pair : pairs)
            most = std::max(most, pair.count);
        std::erase_if(pairs, [&](const CountedPair& pair) { return pair.count < (most + 1) / 2; });
        const auto rank = [this](const CountedPair& pair) {
            const std::string text = symbols_.texts[pair.left] + symbols_.texts[pair.right];
            return std::tuple(-static_cast<std::int64_t>(pair.count), text.size(), text,
                              std::max(pair.left, pair.right), pair.left);  // the older one of equals
        };
        std::ranges::sort(pairs, {}, rank);
        return pairs;
    }

    // An upper bound of the count of any pair with the symbol that this pair becomes.
    std::uint64_t most_beside(const CountedPair& pair) {
        std::uint64_t most = 0;
        for (std::size_t symbol = 0; symbol < symbols_.size(); ++symbol)
            most = std::max({most, count(symbol, pair.left), count(pair.right, symbol)});
        return most;
    }

    // The pairs of the next sweep, in order; empty if no pair is left. A single pair has `recount` set if it
    // must be counted first.
    std::vector<CountedPair> choose() {
        const std::size_t room = std::min(
            {most_packed_rules, pieces_between_refreshes - symbols_.merges() % pieces_between_refreshes,
             static_cast<std::size_t>(spec_.merges) - symbols_.merges()});
        std::vector<CountedPair> batch;
        std::array<bool, width> is_left{}, is_right{};
        std::vector<std::string> texts;
        std::uint64_t most_new = 0;
        for (const CountedPair& pair : ranked()) {
            const std::string text = symbols_.texts[pair.left] + symbols_.texts[pair.right];
            const bool is_run = pair.left == pair.right;
            if (batch.size() == room ||
                (!batch.empty() &&
                 (is_run || is_left[pair.right] || is_right[pair.left] || pair.count <= most_new ||
                  std::find(texts.begin(), texts.end(), text) != texts.end())))
                break;
            batch.push_back(pair);
            if (is_run) break;
            is_left[pair.left] = is_right[pair.right] = true;
            texts.push_back(text);
            most_new = std::max(most_new, most_beside(pair));
        }
        return batch;
    }

    // For each other symbol: whether its text ends with an odd number of occurrences of `symbol`, counting
    // those merged since pairs of `symbol` exist. All false where overlapping pairs are counted.
    OddRuns odd_runs(std::size_t symbol) const {
        OddRuns odd{};
        for (std::size_t i = TokenArray::letters; alternate() && i < symbols_.size(); ++i) {
            const auto [left, right] = symbols_.parts[i];
            odd[i] = i != symbol && (right == symbol ? !odd[left] : odd[right]);
        }
        return odd;
    }

    void lose(std::size_t left, std::size_t right, std::uint64_t by) {
        count(left, right) -= by;
        if (left == right && by > 0) {
            Run& run = runs_[left];
            run.recount = alternate();
            run.count = run.recount ? run.count : count(left, left);
        }
    }

    // Where `x left right y` was, (x, left) and (right, y) are gone and (x, merged), (merged, y) are new. Two
    // adjacent merged symbols have been counted by both; the right one settles it.
    void settle(const PackedRule& rule, std::size_t number, std::size_t first_merged,
                const PackedNeighbours& neighbours) {
        const bool is_run = rule.left == rule.right;
        for (std::size_t symbol = 0; symbol < symbols_.size(); ++symbol) {
            const std::uint64_t before = neighbours.left[number][symbol],
                                behind = neighbours.right[number][symbol];
            const std::size_t last_part = symbol < first_merged ? symbol : symbols_.parts[symbol].second;
            count(symbol, rule.merged) += before;
            if (!is_run || last_part != rule.left) lose(last_part, rule.left, before);
            if (symbol < first_merged) {
                count(rule.merged, symbol) += behind;
                if (!is_run || symbol != rule.right) lose(rule.right, symbol, behind);
            }
        }
    }

    void note_met(Symbol left, Symbol right) {
        if (count(left, right) > 0 && symbols_.short_enough(left, right)) ++met_;
    }

    // Which pairs with the new symbol may be merged, and which pairs have the same text.
    void note_pairs_of(Symbol merged) {
        const std::string text = symbols_.texts[merged];
        for (std::size_t middle = 1; middle < text.size(); ++middle) {
            const auto left = symbols_.find(text.substr(0, middle)),
                       right = symbols_.find(text.substr(middle));
            if (left && right) mergeable_[*left * width + *right] = false;
        }
        const auto mergeable = [this](Symbol left, Symbol right) {
            return symbols_.short_enough(left, right) && !symbols_.is_known(left, right);
        };
        for (Symbol other = 0; other <= merged; ++other) {
            mergeable_[merged * width + other] = mergeable(merged, other);
            mergeable_[other * width + merged] = mergeable(other, merged);
            note_met(merged, other);
            if (other != merged) note_met(other, merged);
        }
        runs_[merged] = {count(merged, merged), alternate()};
    }

    void merge(const std::vector<CountedPair>& batch) {
        const std::size_t first_merged = symbols_.size();
        std::vector<PackedRule> rules;
        for (const CountedPair& pair : batch) {
            certain_ =
                certain_ && (pair.count > active_above_ || std::max(pair.left, pair.right) >= made_since_);
            rules.push_back({static_cast<std::uint8_t>(pair.left), static_cast<std::uint8_t>(pair.right),
                             static_cast<std::uint8_t>(symbols_.add(pair.left, pair.right))});
        }
        const bool is_run = batch[0].left == batch[0].right;
        const PackedNeighbours neighbours =
            is_run ? tokens_.merge_runs(rules[0].left, rules[0].merged, odd_runs(batch[0].left), team_)
                   : tokens_.merge(rules, team_);
        for (std::size_t i = 0; i < rules.size(); ++i) {
            count(rules[i].left, rules[i].right) -= is_run ? neighbours.merged : batch[i].count;
            settle(rules[i], i, first_merged, neighbours);
        }
        met_ -= batch.size();
        for (std::size_t merged = first_merged; merged < symbols_.size(); ++merged)
            note_pairs_of(static_cast<Symbol>(merged));
    }

    // A pair of one symbol: its count by the counting rule, or a bound where `recount` is set.
    struct Run {
        std::uint64_t count = 0;
        bool recount = false;
    };

    PackedTokens& tokens_;
    LearntSymbols& symbols_;
    const LearnSpec& spec_;
    ThreadTeam& team_;
    std::vector<std::uint64_t> counts_;  // of neighbors, overlapping ones included; a bound for runs
    std::array<Run, width> runs_{};
    std::vector<bool> mergeable_;  // like counts_: short enough, and of a text that is not yet a piece
    std::size_t met_ = 0;
    std::uint64_t active_above_ = 0;
    std::size_t made_since_ = 0;  // the first symbol made since the last refresh
    bool certain_ = true;
};

}  // namespace

std::size_t active_pairs(std::size_t known) {
    constexpr std::size_t least = 1000;
    constexpr float share = 0.05F;
    return static_cast<std::size_t>(
        std::max(static_cast<double>(least), static_cast<double>(static_cast<float>(known) * share)));
}

SweptPairs merge_by_sweeps(PackedTokens& tokens, LearntSymbols& symbols, const LearnSpec& spec,
                           ThreadTeam& team, const std::function<void()>& advance) {
    return SweepMerges(tokens, symbols, spec, team).run(advance);
}

}  // namespace bigbird::tokenizer
