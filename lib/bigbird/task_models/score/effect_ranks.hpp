// SPDX-License-Identifier: Apache-2.0
// Ranks effects of variants in a background distribution.
#pragma once

#include "bigbird/outputs/effect_background.hpp"
#include "bigbird/task_models/score/variant_files.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bigbird::task_models {

/// The background of a run: --background, or background.h5 in the folder of its only model.
class EffectRanks {
public:
    /// Reads the background, if there is one. Call it while this process has one thread. Throws InputError.
    explicit EffectRanks(const VariantSpec& spec);

    /// Checks the background against the run (run_of) and its labels. Throws InputError if the background is
    /// of another model, was built with other options, or lacks a label. If the model folder's own background
    /// was built with other options, it is ignored with a warning.
    void require(const rows::Provenance& run, std::span<const std::string> labels);
    /// Whether there is a background.
    bool known() const { return background_.has_value(); }
    /// Sets quantiles and p-values. Thread-safe.
    void fill(std::span<AlleleEffects> effects) const;

private:
    std::filesystem::path path_;
    bool is_own_ = false;  ///< read from the model folder
    std::optional<outputs::EffectBackground> background_;
    std::vector<std::size_t> labels_;  ///< indices of the run's labels in the background
};

}  // namespace bigbird::task_models
