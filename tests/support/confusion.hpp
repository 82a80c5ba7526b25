// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/testing.hpp"

#include "bigbird/evaluation/measures.hpp"

#include <cstdint>
#include <span>

namespace bigbird::testing {

/// The counts at a threshold, row by row: the slow twin of those that evaluation makes of a ranking.
inline evaluation::Confusion confusion(std::span<const float> scores, std::span<const std::uint8_t> labels,
                                       double threshold) {
    DOCTEST_REQUIRE(scores.size() == labels.size());
    evaluation::Confusion counts;
    for (std::size_t i = 0; i < scores.size(); ++i)
        counts.count(labels[i] != 0, static_cast<double>(scores[i]) >= threshold);
    return counts;
}

}  // namespace bigbird::testing
