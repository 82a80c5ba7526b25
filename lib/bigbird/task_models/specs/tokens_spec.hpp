// SPDX-License-Identifier: Apache-2.0
// What finetune-tokens and predict-tokens are asked for.
#pragma once

#include "bigbird/outputs/outputs.hpp"
#include "bigbird/task_models/specs/compute_spec.hpp"
#include "bigbird/task_models/specs/finetune_spec.hpp"
#include "bigbird/task_models/specs/strands.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace bigbird::task_models {

/// What a base counts in the loss: 1, or so much that every label has the same sum (at most 100 times the
/// least).
enum class LabelWeights : std::uint8_t { uniform, balanced };
inline constexpr Choices<LabelWeights, 2> label_weight_choices{
    {{LabelWeights::uniform, "uniform"}, {LabelWeights::balanced, "balanced"}}};

/// finetune-tokens. Of FinetuneSpec it uses neither examples nor what belongs to windows, baselines and bins.
/// A learning_rate.peak of 0 stands for peak_of().
struct FinetuneTokensSpec : FinetuneSpec {
    FinetuneTokensSpec() {
        head = "tokens";
        batch_size = 8;
        learning_rate.peak = 0;
    }

    std::filesystem::path labels;  ///< BED, column 4
    std::vector<std::filesystem::path> references;
    std::string none_label = "none";  ///< of bases of no row
    /// Contigs, regions and BED files that are learned from; none: each contig from its first to its last
    /// labelled base.
    std::vector<std::string> include;
    std::vector<std::string> validation, test;  ///< held out, as examples::HoldOuts
    std::int64_t window = 0;                    ///< bases; 0: as many as the model's positions hold
    std::int64_t margin = -1;  ///< at each end of a window, context alone in prediction; -1: an eighth of it
    LabelWeights label_weights = LabelWeights::uniform;

    /// Throws ConfigError where options do not belong together.
    void validate() const;
    /// `window`, or `fitting` where it is 0. Throws ConfigError where it is above `fitting`.
    std::int64_t window_bases(std::int64_t fitting) const;
    /// The peak of the learning rate: as given, else 0.128 over the hidden size, which is 1e-3 of tiny's 128
    /// and 1.7e-4 of base's 768.
    double peak_of(std::int64_t hidden_size) const;
    /// Of a window. Throws ConfigError where the margins leave no base between them.
    std::int64_t margin_bases(std::int64_t window_bases) const;
};

struct PredictTokensSpec : ComputeSpec {
    std::filesystem::path model;
    std::vector<std::filesystem::path> references;
    std::filesystem::path regions;  ///< BED, or "-"
    bool skip_invalid = false;
    bool each_base = false;  ///< a row a base, in place of one for each run of bases with equal scores
    Strands strands = Strands::none;
    std::string labels;        ///< LabelTable::select; "": all
    std::string track_labels;  ///< of tracks, among `labels`; "": the same
    outputs::OutputSpec outputs;
};

}  // namespace bigbird::task_models
