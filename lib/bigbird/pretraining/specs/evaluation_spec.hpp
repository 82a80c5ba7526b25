// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/baselines/sequence/baselines.hpp"
#include "bigbird/core/choice.hpp"
#include "bigbird/core/files.hpp"
#include "bigbird/corpus/tokens/example_stream.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace bigbird::pretraining {

/// Whether sequences are pairs for next-sentence prediction.
enum class Pairs : std::uint8_t { as_pretrained, on, off };
inline constexpr Choices<Pairs, 3> pair_choices{
    {{Pairs::as_pretrained, "model"}, {Pairs::on, "on"}, {Pairs::off, "off"}}};

/// Token shards, or a file of documents, or neither.
struct CorpusPaths {
    std::filesystem::path corpus = {}, documents = {};
    bool empty() const { return corpus.empty() && documents.empty(); }
};

/// Options of evaluate-mlm.
struct MlmEvaluationSpec {
    std::filesystem::path model = {};  ///< run of pretrain, checkpoint, or model folder
    CorpusPaths held_out = {};
    CorpusPaths baseline = {};  ///< what the baselines are trained on; empty: no baselines
    std::vector<std::filesystem::path> references = {};
    std::int32_t sequence_length = 0;  ///< 0: as in the model's pretraining, or all its positions
    Pairs nsp = Pairs::as_pretrained;
    corpus::MaskingSpec masking{.rate = 0.15, .mask = 1, .random = 0};
    std::uint64_t seed = 0;
    baselines::BaselineSpec baselines{.orders = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12},
                                      .ngrams = {1, 2, 3},
                                      .two_sided = {1, 2, 3, 4, 5, 6}};
    std::int64_t max_sequences = 0;  ///< drawn by the seed; 0: all
    std::int64_t batch_tokens = 8192;
    std::string device = "auto", dtype = "auto";
    int threads = 0;  ///< 0: all

    /// Throws ConfigError if there is nothing to score.
    void validate() const;
};

}  // namespace bigbird::pretraining
