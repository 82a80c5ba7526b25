// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "bigbird/core/files.hpp"

namespace bigbird::tokenizer {

struct TrainSpec {
    std::int32_t vocab_size = 32'000;
    std::int32_t max_piece_length = 16;  ///< bases
    std::int64_t max_sentences = 0;      ///< 0: all; else a seeded sample
    std::uint64_t seed = 0;
    int threads = 1;
};

struct TrainReport {
    std::int64_t sentences = 0, bases = 0, tokens = 0;  ///< tokens: of the corpus (or a sample of it) under the new model
    std::int32_t vocab_size = 0;
};

/// Trains a BPE with SentencePiece and writes `target` (.model) and, beside it, the .vocab, atomically. `next_sentence` yields sentences until
/// nothing. Deterministic. Throws InputError where the corpus is empty or too small for the vocabulary.
TrainReport train_tokenizer(const TrainSpec& spec, const std::function<std::optional<std::string>()>& next_sentence,
                            const std::filesystem::path& target, Overwrite overwrite);

}  // namespace bigbird::tokenizer
