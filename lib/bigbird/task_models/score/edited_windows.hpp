// SPDX-License-Identifier: Apache-2.0
// What models of bins say of a window of a contig's grid (bins/grid.hpp) once its sequence is edited.
// predict-variants and predict-mutagenesis ask the same functions, so that they agree to the last bit.
#pragma once

#include "bigbird/bins/substitutions.hpp"
#include "bigbird/task_models/network/model_folder.hpp"
#include "bigbird/task_models/specs/compute_spec.hpp"

#include <span>
#include <string>
#include <vector>

namespace bigbird::task_models {

/// The mean of the probabilities of models and strands, in double precision on the CPU. Not thread-safe.
class EditedWindows {
public:
    /// Throws ConfigError where a model is no model of bins, or labels or grids of the models differ.
    EditedWindows(std::vector<ModelFolder> models, Strands strands);

    std::span<const ModelFolder> models() const { return models_; }
    bins::Grid grid() const { return models_.front().bins()->grid(); }
    std::int64_t labels() const { return models_.front().bins()->labels(); }
    /// (window_bins, labels) of a window of normalised sequence.
    at::Tensor window(const std::string& dna) const;
    /// (substitutions, bins, labels) of a window with each substitution on its own, at its chosen bins.
    /// `bins`: (substitutions, bins) int64. A row does not depend on the others.
    at::Tensor substituted(const std::string& dna, std::span<const bins::Substitution> each,
                           const at::Tensor& bins) const;

private:
    /// The mean over models and strands of what `logits` gives: (…, labels).
    template <typename Logits>
    at::Tensor mean_of(const Logits& logits) const;

    std::vector<ModelFolder> models_;
    std::vector<bool> directions_;  ///< whether it reads the reverse complement
};

/// ln(p / (1 - p)).
double log_odds(double probability);

}  // namespace bigbird::task_models
