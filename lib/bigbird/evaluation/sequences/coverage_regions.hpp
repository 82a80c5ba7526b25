// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/examples/examples.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace bigbird::evaluation {

/// Predicted coverage of one file.
struct PredictedTracks {
    std::string name;
    std::span<const float> values;  ///< (rows, tracks)
};

/// A page section: measured above predicted coverage of at most three regions of `rows`, which ascend in the
/// examples. Chosen are the stretches of 512 bins with the most signal, and in each the four tracks with the
/// most, without looking at predictions. Empty if there is no signal.
std::string coverage_regions(const examples::ExampleSet& examples, std::span<const std::int64_t> rows,
                             const std::vector<PredictedTracks>& predicted);

}  // namespace bigbird::evaluation
