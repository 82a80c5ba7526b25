// SPDX-License-Identifier: Apache-2.0
// What embed() knows of a model: rows in, vectors out.
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
    /// A piece of the window, and the bases of it that it spells.
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
    /// Whether a row is computed with the one before it; a work in parts then keeps them together.
    virtual bool together(const rows::RegionRow&, const rows::RegionRow&) const { return false; }
    /// Vectors of rows that were filled, in order; may lower their statuses to truncated.
    virtual std::vector<RowVectors> embed(std::span<rows::RegionRow> rows) = 0;
};

/// By the encoder of a BigBird of tokens, pretrained or of a task. `spec` must outlive it. Throws InputError,
/// ConfigError where the layer is not the model's.
std::unique_ptr<RowEmbedder> token_embedder(const EmbedSpec& spec, const std::filesystem::path& directory,
                                            const Job& job);

/// Embeds rows with bigbird-bins: the mean of the last layer over the bins that a row overlaps
/// (grid_rows.hpp). Throws ConfigError if the spec requests layers, tokens or a row's strand, which this
/// network does not support.
std::unique_ptr<RowEmbedder> bin_embedder(const EmbedSpec& spec, const std::filesystem::path& directory,
                                          const genome::ReferenceGenome& genome, const Job& job);

}  // namespace bigbird::task_models
