// SPDX-License-Identifier: Apache-2.0
// What embed() knows of a model: rows in, vectors out.
#pragma once

#include "bigbird/genome/reference/reference_genome.hpp"
#include "bigbird/outputs/outputs.hpp"
#include "bigbird/rows/region_rows.hpp"
#include "bigbird/task_models/computing.hpp"
#include "bigbird/task_models/embed/embed.hpp"

#include <filesystem>
#include <memory>
#include <span>
#include <string>

namespace bigbird::task_models {

class RowEmbedder {
public:
    virtual ~RowEmbedder() = default;
    /// Of a vector.
    virtual std::int64_t hidden_size() const = 0;
    /// What outputs call the layer that is read: "0", the embeddings, "1" …, or "last".
    virtual std::string layer() const = 0;
    /// Whether a row is computed with the one before it, which a work in parts does not part then.
    virtual bool together(const rows::RegionRow&, const rows::RegionRow&) const { return false; }
    /// Writes what rows that were filled get, in order, and counts them.
    virtual void embed(std::span<rows::RegionRow> rows, outputs::Outputs& outputs, EmbedReport& report) = 0;
};

/// By the encoder of a BigBird of tokens, pretrained or of a task. `spec` must outlive it. Throws InputError,
/// ConfigError where the layer is not the model's.
std::unique_ptr<RowEmbedder> token_embedder(const EmbedSpec& spec, const std::filesystem::path& directory,
                                            const at::Device& device, const Computing& computing,
                                            int threads);

/// By a model of bins that reads bases: the mean of the last layer over the bins that a row overlaps, as
/// grid_rows.hpp has it. Throws ConfigError where the spec asks for what it cannot say (layers, tokens, the
/// strand of a row).
std::unique_ptr<RowEmbedder> bin_embedder(const EmbedSpec& spec, const std::filesystem::path& directory,
                                          const genome::ReferenceGenome& genome, const at::Device& device,
                                          const Computing& computing);

}  // namespace bigbird::task_models
