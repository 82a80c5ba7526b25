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

#include "bigbird/tokenizer/train/merges/learn_pieces.hpp"
#include "bigbird/tokenizer/train/merges/learnt_symbols.hpp"
#include "bigbird/tokenizer/train/storage/packed_tokens.hpp"
#include "bigbird/tokenizer/train/storage/thread_team.hpp"

#include <cstddef>
#include <functional>
#include <vector>

namespace bigbird::tokenizer {

/// What sweeps leave for the merges after them.
struct SweptPairs {
    std::vector<CountedPair> pairs;  ///< short enough to be merged, by age()
    /// By symbol: whether its runs have lost their first occurrence (OddRuns).
    std::vector<OddRuns> odd_runs;
    std::size_t met;  ///< lower bound of the number of different mergeable pairs that the corpus has had
    bool certain;     ///< whether SentencePiece, which considers only frequent pairs, makes the same merges
};

/// Merges until sweeps are no longer faster than lists, spec.merges are made, no pair is left, or
/// spec.only_certain ends it. Calls `advance` after each sweep.
SweptPairs merge_by_sweeps(PackedTokens& tokens, LearntSymbols& symbols, const LearnSpec& spec,
                           ThreadTeam& team, const std::function<void()>& advance);

/// The number of known pairs that SentencePiece considers until its next refresh.
std::size_t active_pairs(std::size_t known);
inline constexpr std::size_t pieces_between_refreshes = 100;

}  // namespace bigbird::tokenizer
