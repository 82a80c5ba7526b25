// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/genome/reference/reference_genome.hpp"
#include "bigbird/task_models/specs/tokens_spec.hpp"
#include "bigbird/task_models/tokens/token_labeller.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace bigbird::task_models {

struct PredictTokensReport {
    std::int64_t regions = 0, bases = 0, scored = 0, rows = 0;
    std::int64_t truncated = 0;  ///< windows with more tokens than the model has positions
    double seconds = 0;
};

/// Scores every base of the regions, in order: a row for each run of bases with equal scores, or one a base.
/// Windows lie on a grid of contig coordinates, each scores the bases between its margins, and a row never
/// reaches over such a border; so a base's scores depend on the reference and its place alone. Memory does
/// not grow with the regions. Outputs appear when all is written. Throws InputError, ConfigError,
/// DeviceError, WriteError, Stopped.
PredictTokensReport predict_tokens(const PredictTokensSpec& spec);

/// The probabilities of the bases between the margins of some windows, (info.core(), labels) each, row by
/// row; NaN where no token spells the base.
struct CoreScores {
    std::vector<std::vector<float>> windows;
    std::int64_t truncated = 0;
};
/// `windows` are model.info.window bases each.
CoreScores score_cores(const LoadedLabeller& model, const genome::ReferenceGenome& reference,
                       std::span<const genome::Interval> windows, Strands strands, std::int64_t batch_tokens,
                       int threads);

}  // namespace bigbird::task_models
