// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/outputs/outputs.hpp"
#include "bigbird/rows/window.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace bigbird::task_models {

/// One vector a row: the mean over its tokens ([CLS] and [SEP] left out) or that of [CLS]; or one a token.
enum class EmbedPooling : std::uint8_t { mean, cls, token };
/// "mean", "cls", "token". Throws ConfigError.
EmbedPooling parse_embed_pooling(const std::string& word);

struct EmbedSpec {
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
    outputs::OutputSpec outputs;
    std::int64_t batch_tokens = 0;
    std::string device = "auto", dtype = "auto", attention = "automatic";  ///< parse_computing
    int threads = 0;
};

struct EmbedReport {
    std::int64_t rows = 0, embedded = 0, truncated = 0;
    double seconds = 0;
};

/// Writes one row for each row that comes in, in order, or one for each of its tokens with `token` (1, 2, …),
/// `token_start` and `token_end` (the bases that it spells, counted from the window's start on the strand
/// that was read) and `piece` behind the row's fields. Columns are d0 … d(hidden - 1). Memory does not grow
/// with the rows. Throws InputError, ConfigError, DeviceError, WriteError, Stopped.
EmbedReport embed(const EmbedSpec& spec);

}  // namespace bigbird::task_models
