// SPDX-License-Identifier: Apache-2.0
// Scores of bin models for a window of a contig's grid (bins/config.hpp) after edits of its sequence.
// predict-variants and predict-mutagenesis call the same functions, so that they agree to the last bit.
#pragma once

#include "bigbird/bins/substitutions.hpp"
#include "bigbird/task_models/network/model_folder.hpp"
#include "bigbird/task_models/specs/score_specs.hpp"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bigbird::task_models {

/// A window of a contig's grid as each model and strand reads it: the mean of their probabilities, in double
/// precision on the CPU. Not thread-safe; the EditedWindows that opened it must outlive it.
class EditedWindow {
public:
    /// Scores of the unchanged window, (window_bins, labels).
    at::Tensor reference() const;
    /// (substitutions, bins, labels): scores with each substitution applied separately, at its chosen bins,
    /// (substitutions, bins) int64. A row does not depend on the others.
    at::Tensor substituted(std::span<const bins::Substitution> each, const at::Tensor& bins) const;

    /// (window_bins, labels): scores of the window with other edits. `dna`: its edited sequence, of the same
    /// length.
    at::Tensor edited(std::string_view dna) const;

private:
    friend class EditedWindows;
    struct Reading {
        const ModelFolder* model;
        bool reverse;
        std::unique_ptr<EditedBins> bins;
    };
    explicit EditedWindow(bins::Grid grid) : grid_(grid) {}
    /// The mean over all readings of the results of `logits`: (…, labels).
    template <typename Logits>
    at::Tensor mean_of(const Logits& logits) const;

    bins::Grid grid_;
    std::vector<Reading> readings_;
};

/// Averages the probabilities of models, on one strand or both.
class EditedWindows {
public:
    /// Throws ConfigError if a model is not a bin model, or if labels or grids of the models differ.
    EditedWindows(std::vector<ModelFolder> models, Strands strands);

    std::span<const ModelFolder> models() const { return models_; }
    bins::Grid grid() const { return models_.front().bins()->grid(); }
    std::int64_t labels() const { return models_.front().bins()->labels(); }
    /// A window of normalized sequence.
    EditedWindow open(const std::string& dna) const;

private:
    std::vector<ModelFolder> models_;
    std::vector<bool> directions_;  ///< whether it reads the reverse complement
};

/// The scale on which effects are additive: log odds, ln(p / (1 - p)), for probabilities, ln for coverage and
/// counts, no change for other numbers.
double additive(double value, LinkFunction link);

}  // namespace bigbird::task_models
