// SPDX-License-Identifier: Apache-2.0
// Distillation: one network learns from the labels and from what other networks make of them (Hinton et al.,
// arXiv:1503.02531).
#pragma once

#include "bigbird/core/ranked_bits.hpp"
#include "bigbird/examples/labelled_bins.hpp"

#include <cstdint>
#include <filesystem>
#include <span>

namespace bigbird::task_models {

/// Probabilities of the labels of train's rows, by other models. Immutable; thread-safe.
class Teacher {
public:
    /// `path`: float32 .npy with a row per row of train and a column per label, as predict --split train
    /// writes it. `bins`: those of the same folder. Throws InputError.
    Teacher(const std::filesystem::path& path, const examples::ExampleSet& examples,
            const examples::LabelledBins& bins);

    /// The probabilities of the bin at a row of bins.npy; empty if no row of train is this bin.
    std::span<const float> scores(std::int64_t row) const;

private:
    RankedBits rows_;  // by row of bins.npy: whether it has scores
    examples::NumberMatrix scores_;
};

}  // namespace bigbird::task_models
