// SPDX-License-Identifier: Apache-2.0
// Effects of variants ranked among those of a background.
#pragma once

#include "bigbird/outputs/effect_background.hpp"
#include "bigbird/task_models/score/variant_files.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bigbird::task_models {

/// The background of a run: that of --background, or background.h5 in the folder of its only model.
class EffectRanks {
public:
    /// Reads it, where there is one. Call it where this process has one thread. Throws InputError.
    explicit EffectRanks(const VariantSpec& spec);

    /// `run` (run_of) and `labels` are those of the run. Throws InputError where the background is of another
    /// model, was made by other options or lacks a label. A model's own background of other options is left
    /// out with a warning.
    void require(const rows::Provenance& run, std::span<const std::string> labels);
    /// Whether there are ranks.
    bool known() const { return background_.has_value(); }
    /// Sets quantiles and p-values. Thread-safe.
    void fill(std::span<AlleleEffects> effects) const;

private:
    std::filesystem::path path_;
    bool is_own_ = false;  ///< the model folder's
    std::optional<outputs::EffectBackground> background_;
    std::vector<std::size_t> labels_;  ///< where the run's labels are in it
};

}  // namespace bigbird::task_models
