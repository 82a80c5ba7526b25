// SPDX-License-Identifier: Apache-2.0
// SentencePiece's byte-pair learning, exactly and over whole genomes.
//
// Each round merges the most frequent pair of neighbouring symbols everywhere, from left to right, and its
// text becomes a piece. What SentencePiece does beyond that, and so do we: a pair is two symbols, not a text,
// so that where its text is a piece already by another split the pair is passed over and never merged;
// equally frequent pairs go by length, then by text; pieces longer than a limit are never formed.
//
// SentencePiece looks among its most frequent pairs only (5 %, at least 1,000, and those made since), which
// it refreshes every 100 pieces. The best pair lies among them unless thousands of pairs are equally
// frequent, as in a corpus too small for its vocabulary; there its choice depends on the order of a hash
// table. Such a choice is noticed and told (`certain`).
//
// The first merges sweep over the whole corpus (sweep_merges.hpp), the others follow lists of positions
// (indexed_merges.hpp); the plain way to the same pieces stands in the tests.
#pragma once

#include "bigbird/tokenizer/train/merges/learnt_symbols.hpp"
#include "bigbird/tokenizer/train/storage/token_array.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace bigbird::tokenizer {

struct LearntPieces {
    std::vector<LearntPiece> pieces;
    bool certain = true;  ///< SentencePiece, which looks among frequent pairs only, chooses the same
};

/// Hears of each piece how many are learnt and which share of the whole work is probably done; may throw.
using LearnListener = std::function<void(std::int64_t pieces, double share)>;

/// Learns up to spec.merges pieces; fewer where no pair is left, or where spec.only_certain ends it; only
/// then `corpus` is what it was, else it is empty afterwards. The result does not depend on the threads.
/// Throws std::bad_alloc.
LearntPieces learn_pieces(LetterArray& corpus, const LearnSpec& spec, const LearnListener& advance);

}  // namespace bigbird::tokenizer
