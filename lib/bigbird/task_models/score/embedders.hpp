// SPDX-License-Identifier: Apache-2.0
// The interface between embed() and models: rows in, vectors out.
#pragma once

#include "bigbird/genome/reference/reference_genome.hpp"
#include "bigbird/rows/region_rows.hpp"
#include "bigbird/task_models/network/job.hpp"
#include "bigbird/task_models/specs/score_specs.hpp"

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace bigbird::task_models {

/// The vectors of a row.
struct RowVectors {
    /// A token of the window, and its bases.
    struct Token {
        std::int64_t begin = 0, end = 0;
        std::string piece;
    };
    at::Tensor vectors;         ///< (1 or tokens, hidden) float32 on the CPU; undefined: the row has none
    std::vector<Token> tokens;  ///< with EmbedPooling::token
};

class RowEmbedder {
public:
    virtual ~RowEmbedder() = default;
    /// The length of a vector.
    virtual std::int64_t hidden_size() const = 0;
    /// The layer's name in outputs: "0", the embeddings, "1" …, or "last".
    virtual std::string layer() const = 0;
    /// Whether a row is computed together with the row before it. A job in parts then puts them into the same
    /// part.
    virtual bool together(const rows::RegionRow&, const rows::RegionRow&) const { return false; }
    /// The vectors of filled rows, in order. May change their statuses to truncated.
    virtual std::vector<RowVectors> embed(std::span<rows::RegionRow> rows) = 0;
};

/// Embeds rows with the encoder of a token model, pretrained or fine-tuned. `spec` must outlive the result.
/// Throws InputError. Throws ConfigError if the model does not have the layer.
std::unique_ptr<RowEmbedder> token_embedder(const EmbedSpec& spec, const std::filesystem::path& directory,
                                            const Job& job);

/// Embeds rows with bigbird-bins: the mean of the last layer over the bins that a row overlaps
/// (grid_rows.hpp). Throws ConfigError if the spec requests layers, tokens or a row's strand, which this
/// network does not support.
std::unique_ptr<RowEmbedder> bin_embedder(const EmbedSpec& spec, const std::filesystem::path& directory,
                                          const genome::ReferenceGenome& genome, const Job& job);

}  // namespace bigbird::task_models
