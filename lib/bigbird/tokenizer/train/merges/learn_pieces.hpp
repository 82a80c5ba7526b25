// SPDX-License-Identifier: Apache-2.0
// SentencePiece's byte-pair learning, exactly and over entire genomes.
//
// Each round merges the most frequent pair of neighboring symbols everywhere, from left to right, and its
// text becomes a piece (token). SentencePiece has three more rules, which we follow. A pair is two symbols,
// not a text: if another pair already gave a piece with the same text, the pair is skipped and never merged.
// Equally frequent pairs are ordered by length, then by text. Pieces longer than a limit are never formed.
//
// SentencePiece looks only among its most frequent pairs (5 %, at least 1,000, and pairs made since), which
// it refreshes every 100 pieces. The best pair is among them unless thousands of pairs are equally frequent,
// as in a corpus too small for its vocabulary; there its choice depends on the order of a hash table. Such a
// choice is noticed and reported (`certain`).
//
// The first merges are made by sweeps over the entire corpus (sweep_merges.hpp), the others by lists of
// positions (indexed_merges.cpp). The tests have a plain implementation.
#pragma once

#include "bigbird/tokenizer/train/storage/token_array.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace bigbird::tokenizer {

/// How pairs of equal symbols are counted, such as AA in AAA. `every`: all occurrences, as SentencePiece from
/// 0.1.99 on. `alternate`: every other occurrence of a run, as SentencePiece up to 0.1.98 (at the time of
/// BigBird's paper), which ignored the others when the pair first appeared. `installed`: like the installed
/// SentencePiece, so that both engines give the same pieces. Functions that count take `every` or
/// `alternate`.
enum class OverlapCounting { installed, every, alternate };

/// Options of the trainer.
struct LearnSpec {
    std::int64_t merges = 0;             ///< pieces of two bases and more to learn, at most 65,000
    std::int32_t max_piece_length = 16;  ///< bases
    OverlapCounting counting = OverlapCounting::every;
    int threads = 1;
    bool only_certain = false;  ///< end where SentencePiece may choose differently
    std::int32_t most_sweeps =
        200;  ///< maximum number of merges by sweeps, a multiple of 100; does not change the result
};

struct LearntPieces {
    std::vector<std::string> texts;  ///< in the order in which they were learned
    bool certain = true;  ///< whether SentencePiece, which considers only frequent pairs, chooses the same
};

/// Called after each piece with the number learned and the estimated share of work done; may throw.
using LearnListener = std::function<void(std::int64_t pieces, double share)>;

/// Learns up to spec.merges pieces; fewer if no pair is left, or if spec.only_certain ends it. Only in the
/// last case `corpus` is unchanged; otherwise it is empty afterwards. The result does not depend on the
/// number of threads. Throws std::bad_alloc.
LearntPieces learn_pieces(LetterArray& corpus, const LearnSpec& spec, const LearnListener& advance);

}  // namespace bigbird::tokenizer
