// SPDX-License-Identifier: Apache-2.0
// SentencePiece's byte-pair learning, exactly and over whole genomes.
//
// Each round joins the most frequent pair of neighbouring symbols everywhere, from left to right, and its
// text becomes a piece. What SentencePiece does beyond that, and so do we: a pair is two symbols, not a text,
// so that where its text is a piece already by another split the pair is passed over and never joined;
// equally frequent pairs go by length, then by text; pieces longer than a limit are never formed.
//
// SentencePiece looks among its most frequent pairs only (5 %, at least 1,000, and those made since), which
// it refreshes every 100 pieces. The best pair lies among them unless thousands of pairs are equally
// frequent, as in a corpus too small for its vocabulary; there its choice depends on the order of a hash
// table. Such a choice is noticed and told (`certain`).
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
    bool only_certain = false;  ///< end where SentencePiece may choose otherwise
};

struct LearntPiece {
    std::string text;
    std::uint64_t frequency;  ///< of its pair when it was chosen
};

struct LearntPieces {
    std::vector<LearntPiece> pieces;
    bool certain = true;  ///< SentencePiece, which looks among frequent pairs only, chooses the same
};

/// Hears after each round how many pieces are learnt and which share of the whole work is probably done
/// (first pieces take longest); may throw.
using LearnListener = std::function<void(std::int64_t pieces, double share)>;

/// Learns up to spec.merges pieces; fewer where no pair is left, or where spec.only_certain ends it. `corpus`
/// holds the joined symbols afterwards, see restore_letters(). The result does not depend on the threads.
/// Throws std::bad_alloc.
LearntPieces learn_pieces(TokenArray& corpus, const LearnSpec& spec, const LearnListener& advance);

/// Undoes what learn_pieces() did to the corpus.
void restore_letters(TokenArray& corpus, const std::vector<LearntPiece>& pieces);

}  // namespace bigbird::tokenizer
