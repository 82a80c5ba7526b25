// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/tokenizer/train/storage/token_array.hpp"

#include <cstdint>

namespace bigbird::tokenizer {

/// How AA is counted in AAA, where a pair's two symbols are the same: `every` one as SentencePiece from
/// 0.1.99 on; `alternate` ones as it did up to 0.1.98 (in the years of BigBird's paper), which kept every
/// other one of a run when the pair appeared and never looked at the rest again; or as the `installed`
/// SentencePiece does, so that both engines give the same pieces. Code that counts takes `every` or
/// `alternate`.
enum class OverlapCounting { installed, every, alternate };

struct CountedPair {
    Symbol left, right;
    std::uint64_t count;
    bool recount = false;  ///< the count is an upper bound
};

/// What the trainer is asked for.
struct LearnSpec {
    std::int64_t merges = 0;             ///< pieces of two bases and more to learn, at most 65,000
    std::int32_t max_piece_length = 16;  ///< bases
    OverlapCounting counting = OverlapCounting::every;
    int threads = 1;
    bool only_certain = false;  ///< end where SentencePiece may choose otherwise
    std::int32_t most_sweeps =
        200;  ///< merges, a multiple of 100, that are made by sweeps at most; changes no result
};

}  // namespace bigbird::tokenizer
