// SPDX-License-Identifier: Apache-2.0
// Linear classifiers by LIBLINEAR: support vector machines without a kernel, by dual coordinate descent, and
// logistic regression, by a trust region Newton method.
#pragma once

#include "bigbird/baselines/window/kmer_counts.hpp"
#include "bigbird/baselines/window/ridge.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace bigbird::baselines {

enum class MarginLoss : std::uint8_t { hinge, logistic };

struct SvmSpec {
    MarginLoss loss = MarginLoss::hinge;
    double cost = 1;             ///< C
    double positive_weight = 1;  ///< cost of a positive relative to a negative
    double tolerance = 0.1;
};

/// Rows of features that several labels are learned on. One thread at a time in the process: LIBLINEAR draws
/// from std::rand, which is reseeded for each label, so a label's result does not depend on the others.
class LinearSvm {
public:
    explicit LinearSvm(std::int64_t features);
    ~LinearSvm();
    LinearSvm(const LinearSvm&) = delete;
    LinearSvm& operator=(const LinearSvm&) = delete;

    /// Keeps the elements other than 0, 16 bytes each.
    void add(std::span<const float> row);
    /// The same of a row that is given by them, indices ascending and below the number of features.
    void add(std::span<const Feature> row);
    /// Bytes held.
    std::size_t bytes() const;
    /// L2-regularised, bias included: score = row * weight + bias, above 0 for positives.
    /// labels: a row each, 0 or 1. A label without positives or without negatives has weight 0 and bias -1
    /// or 1. (features) and () float64.
    LinearScores train(std::span<const std::uint8_t> labels, const SvmSpec& spec) const;

private:
    struct Rows;
    std::int64_t features_;
    std::unique_ptr<Rows> rows_;
};

}  // namespace bigbird::baselines
