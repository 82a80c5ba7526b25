// SPDX-License-Identifier: Apache-2.0
// SentencePiece's byte-pair learning, exactly and over entire genomes.
//
// Each round merges the most frequent pair of neighboring symbols everywhere, from left to right, and its
// text becomes a piece. SentencePiece has three more rules, and so do we. A pair is two symbols, not a text:
// where its text is already a piece by another split, the pair is passed over and never merged. Equally
// frequent pairs go by length, then by text. Pieces longer than a limit are never formed.
//
// SentencePiece looks only among its most frequent pairs (5 %, at least 1,000, and pairs made since), which
// it refreshes every 100 pieces. The best pair is among them unless thousands of pairs are equally frequent,
// as in a corpus too small for its vocabulary; there its choice depends on the order of a hash table. Such a
// choice is noticed and reported (`certain`).
//
// The first merges sweep over the entire corpus (sweep_merges.hpp), the others follow lists of positions
// (indexed_merges.hpp); the tests have a plain implementation.
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

/// Called after each piece with the number learned and the estimated share of work done; may throw.
using LearnListener = std::function<void(std::int64_t pieces, double share)>;

/// Learns up to spec.merges pieces; fewer where no pair is left, or where spec.only_certain ends it; only
/// then `corpus` is what it was, else it is empty afterwards. The result does not depend on the threads.
/// Throws std::bad_alloc.
LearntPieces learn_pieces(LetterArray& corpus, const LearnSpec& spec, const LearnListener& advance);

}  // namespace bigbird::tokenizer
