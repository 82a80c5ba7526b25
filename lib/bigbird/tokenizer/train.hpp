// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/core/files.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace bigbird::tokenizer {

struct TrainSpec {
    std::int32_t vocab_size = 32'000;    ///< special pieces and letters included
    std::int32_t max_piece_length = 16;  ///< bases
    std::int64_t max_sentences = 0;      ///< 0: all; else a seeded sample
    std::uint64_t seed = 0;
    int threads = 1;
    /// Throws ConfigError naming the option that is out of range.
    void validate() const;
};

struct TrainReport {
    std::int64_t sentences = 0, bases = 0;  ///< trained on; N is not counted
    std::int64_t measured_bases = 0,
                 measured_tokens = 0;  ///< the corpus, or an even sample of it, under the new model
    std::int32_t vocab_size = 0;
    double bases_per_token() const {
        return measured_tokens > 0
                   ? static_cast<double>(measured_bases) / static_cast<double>(measured_tokens)
                   : 0;
    }
};

/// Trains a BPE with SentencePiece and writes `target` (.model) and, beside it, the same name ending in
/// .vocab, both atomically. `next_sentence` yields sentences until nothing; they are normalised, cut at runs
/// of N (so that N burns no merges) and at 30,000 bases (beyond 32,767 SentencePiece 0.1.97 crashes), and a
/// letter that never occurs is added once as a sentence, so that A C G T N are always pieces. Deterministic
/// whatever the threads. Holds the corpus in memory, about 40 bytes a base. Throws ConfigError from
/// validate() and for an output that exists, InputError where the corpus is empty or gives fewer pieces than
/// asked for (it says how many).
TrainReport train_tokenizer(const TrainSpec& spec,
                            const std::function<std::optional<std::string>()>& next_sentence,
                            const std::filesystem::path& target, Overwrite overwrite);

}  // namespace bigbird::tokenizer
