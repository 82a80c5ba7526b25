// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/tokenizer/train/storage/token_array.hpp"

#include <cstdint>

namespace bigbird::tokenizer {

/// How occurrences that overlap are counted where a pair's two symbols are the same, as in AAA: SentencePiece
/// from 0.1.99 on counts each of them; up to 0.1.98 it kept every other one of a run when the pair appeared,
/// and never looked at the rest again.
enum class PairCounting { overlapping, disjoint };

struct CountedPair {
    Symbol left, right;
    std::uint64_t count;
    bool recount = false;  ///< the count is an upper bound
};

/// What the trainer is asked for.
struct LearnSpec {
    std::int64_t merges = 0;             ///< pieces of two bases and more to learn, at most 65,000
    std::int32_t max_piece_length = 16;  ///< bases
    PairCounting counting = PairCounting::overlapping;
    int threads = 1;
    bool only_certain = false;  ///< end where SentencePiece may choose otherwise
    std::int32_t most_sweeps =
        200;  ///< merges, a multiple of 100, that are made by sweeps at most; changes no result
};

}  // namespace bigbird::tokenizer
