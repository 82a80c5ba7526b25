// SPDX-License-Identifier: Apache-2.0
// SentencePiece's byte-pair learning, exactly and over whole genomes.
//
// Each round joins the most frequent pair of neighbouring symbols everywhere, from left to right, and its
// text becomes a piece. What SentencePiece does beyond that, and so do we: a pair is two symbols, not a text,
// so that where its text is a piece already by another split the pair is passed over and never joined;
// equally frequent pairs go by length, then by text; pieces longer than a limit are never formed.
// (SentencePiece looks among a few thousand most frequent pairs only and refreshes them every 100 rounds. The
// best pair lies among them unless thousands of pairs are equally frequent, as in a corpus too small for its
// vocabulary.)
#pragma once

#include "bigbird/tokenizer/merge_shard.hpp"
#include "bigbird/tokenizer/token_array.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace bigbird::tokenizer {

struct LearnSpec {
    std::int64_t merges = 0;             ///< pieces of two bases and more to learn, at most 65,000
    std::int32_t max_piece_length = 16;  ///< bases
    PairCounting counting = PairCounting::overlapping;
    int threads = 1;
};

struct LearntPiece {
    std::string text;
    std::uint64_t frequency;  ///< of its pair when it was chosen
};

/// Learns up to spec.merges pieces; fewer where no pair is left. `corpus` is used up. `advance` hears how
/// many are learnt, now and then, and may throw. The result does not depend on the threads. Throws
/// std::bad_alloc.
std::vector<LearntPiece> learn_pieces(TokenArray& corpus, const LearnSpec& spec,
                                      const std::function<void(std::int64_t)>& advance);

}  // namespace bigbird::tokenizer
