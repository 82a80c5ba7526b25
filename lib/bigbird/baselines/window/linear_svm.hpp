// SPDX-License-Identifier: Apache-2.0
// Support vector machines without a kernel, by LIBLINEAR's dual coordinate descent.
#pragma once

#include "bigbird/baselines/window/ridge.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace bigbird::baselines {

struct SvmSpec {
    double cost = 1;             ///< C
    double positive_weight = 1;  ///< of a positive's cost, against a negative's
    double tolerance = 0.1;
};

/// Rows of features that several labels are learnt on. One thread at a time in the process: LIBLINEAR draws
/// from std::rand, which is seeded anew for each label, so a label's result does not depend on the others.
class LinearSvm {
public:
    explicit LinearSvm(std::int64_t features);
    ~LinearSvm();
    LinearSvm(const LinearSvm&) = delete;
    LinearSvm& operator=(const LinearSvm&) = delete;

    /// Keeps the elements other than 0, 16 bytes each.
    void add(std::span<const float> row);
    /// Bytes held.
    std::size_t bytes() const;
    /// Hinge loss (L2-regularised, bias included): score = row * weight + bias, above 0 for positives.
    /// labels: a row each, 0 or 1. A label without positives or without negatives has weight 0 and bias -1
    /// or 1. (features) and () float64.
    LinearScores train(std::span<const std::uint8_t> labels, const SvmSpec& spec) const;

private:
    struct Rows;
    std::int64_t features_;
    std::unique_ptr<Rows> rows_;
};

}  // namespace bigbird::baselines
