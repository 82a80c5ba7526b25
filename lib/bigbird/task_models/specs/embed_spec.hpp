// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/core/choice.hpp"
#include "bigbird/outputs/outputs.hpp"
#include "bigbird/task_models/specs/compute_spec.hpp"

#include <cstdint>
#include <filesystem>
#include <vector>

namespace bigbird::task_models {

/// One vector a row: the mean over its tokens ([CLS] and [SEP] left out) or that of [CLS]; or one a token.
enum class EmbedPooling : std::uint8_t { mean, cls, token };
/// The values of embed's --pooling.
inline constexpr Choices<EmbedPooling, 3> embed_pooling_choices{
    {{EmbedPooling::mean, "mean"}, {EmbedPooling::cls, "cls"}, {EmbedPooling::token, "token"}}};

/// What embed is asked for.
struct EmbedSpec : ComputeSpec {
    std::filesystem::path model;  ///< pretrained or fine-tuned, ours or transformers'
    /// Either BED rows ("-": standard input) on the reference …
    std::filesystem::path regions;
    std::vector<std::filesystem::path> references;
    std::int64_t window = 0;  ///< bases about a row's middle; 0: the row itself
    bool use_strand = false;  ///< rows on the minus strand are reverse-complemented
    bool skip_invalid = false;
    /// … or the records of a FASTA.
    std::filesystem::path sequences;

    EmbedPooling pooling = EmbedPooling::mean;
    std::int64_t layer = -1;  ///< 0: the embeddings, 1 … layers; -1: the last
    outputs::OutputSpec outputs{.tracks = false};

    /// Throws ConfigError where there is nothing to embed.
    void validate() const;
};

}  // namespace bigbird::task_models
