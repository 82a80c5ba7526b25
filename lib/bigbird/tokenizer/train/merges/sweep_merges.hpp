// SPDX-License-Identifier: Apache-2.0
// Makes the first merges, which merge most positions, by sweeps over the packed corpus.
//
// A sweep makes several merges at once. Let the pairs be ranked (by frequency, then as in PairTable), and let
// p1 = (a1, b1), p2 = (a2, b2), … be the first ones. Merging them one after the other would choose them in
// this order, with these frequencies, and give the same symbols, if
//
// 1. no symbol is on the left of one of these pairs and on the right of any of them. Then no two occurrences
//    share a symbol, so that merging one pair neither hides nor changes another, in whatever order.
// 2. each of them is more frequent than every pair that the previous merges create. A pair (x, J) with the
//    new J of pi is only where (x', ai) was before the sweep, x' being x or x's last part; a pair (J,
//    y) only where (bi, y') was. So it is not more frequent than the most frequent of those, all of which
//    are counted in a table, whether they may be merged or not.
//
// Other pairs only become rarer. Pairs of a symbol with itself violate the first condition, and are merged
// one at a time.
#pragma once

#include "bigbird/tokenizer/train/merges/learnt_symbols.hpp"
#include "bigbird/tokenizer/train/storage/packed_tokens.hpp"
#include "bigbird/tokenizer/train/storage/thread_team.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace bigbird::tokenizer {

class SweepMerges {
public:
    /// All must outlive this.
    SweepMerges(PackedTokens& tokens, LearntSymbols& symbols, const LearnSpec& spec, ThreadTeam& team);

    /// Merges until sweeps are no longer faster than lists, spec.merges are made, no pair is left, or
    /// spec.only_certain ends it. Calls `advance` after each sweep.
    void run(const std::function<void()>& advance);

    /// Whether SentencePiece, which considers only frequent pairs, makes the same merges.
    bool certain() const { return certain_; }
    /// Lower bound of the number of different mergeable pairs that the corpus has had.
    std::size_t pairs_met() const { return met_; }
    /// The pairs that are short enough to be merged, sorted by their younger symbol, then by their left and
    /// right one.
    std::vector<CountedPair> pairs() const;
    /// Whether runs of `symbol` have lost their first occurrence, see OddRuns; all false where overlapping
    /// pairs are counted.
    OddRuns odd_runs(Symbol symbol) const;

private:
    static constexpr std::size_t width = 256;
    std::uint64_t& count(std::size_t left, std::size_t right) { return counts_[left * width + right]; }
    std::uint64_t count(std::size_t left, std::size_t right) const { return counts_[left * width + right]; }
    /// The accepted pairs that occur, with their counts by the counting rule.
    template <typename Accept>
    std::vector<CountedPair> counted(const Accept& accept) const;
    void refresh_active();
    std::vector<CountedPair> ranked() const;
    std::vector<CountedPair> choose();
    std::uint64_t most_beside(const CountedPair& pair) const;
    void merge(const std::vector<CountedPair>& batch);
    void settle(const PackedRule& rule, std::size_t number, std::size_t first_merged,
                const PackedNeighbours& neighbours);
    void lose(std::size_t left, std::size_t right, std::uint64_t by);
    void note_met(Symbol left, Symbol right);
    void note_pairs_of(Symbol merged);

    // A pair of one symbol: its count by the counting rule, or a bound where `recount` is set.
    struct Run {
        std::uint64_t count = 0;
        bool recount = false;
    };

    PackedTokens& tokens_;
    LearntSymbols& symbols_;
    const LearnSpec spec_;
    ThreadTeam& team_;
    std::vector<std::uint64_t> counts_;  // of neighbors, overlapping ones included; a bound for runs
    std::array<Run, width> runs_{};
    std::vector<bool>
        mergeable_;  // indexed like counts_: the pair is short enough, and its text is not yet a piece
    std::size_t met_ = 0;
    std::uint64_t active_above_ = 0;
    std::size_t made_since_ = 0;  // the first symbol made since the last refresh
    bool certain_ = true;
};

/// The number of known pairs that SentencePiece considers until its next refresh.
std::size_t active_pairs(std::size_t known);
inline constexpr std::size_t pieces_between_refreshes = 100;

}  // namespace bigbird::tokenizer
