// SPDX-License-Identifier: Apache-2.0
// Linear classifiers by LIBLINEAR: support vector machines without a kernel, by dual coordinate descent, and
// logistic regression, by a trust region Newton method.
#pragma once

#include "bigbird/baselines/window/kmer_counts.hpp"
#include "bigbird/baselines/window/ridge.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

struct feature_node;  // LIBLINEAR's

namespace bigbird::baselines {

enum class MarginLoss : std::uint8_t { hinge, logistic };

struct SvmSpec {
    MarginLoss loss = MarginLoss::hinge;
    double cost = 1;             ///< C
    double positive_weight = 1;  ///< cost of a positive relative to a negative
    double tolerance = 0.1;
};

/// Training rows for the SVMs of several labels. One thread at a time in the process: LIBLINEAR draws from
/// std::rand, which is reseeded for each label. A label's result thus does not depend on the others.
class LinearSvm {
public:
    explicit LinearSvm(std::int64_t features);
    ~LinearSvm();
    LinearSvm(const LinearSvm&) = delete;
    LinearSvm& operator=(const LinearSvm&) = delete;

    /// Adds a dense row. Only its nonzero elements are stored, 16 bytes each.
    void add(std::span<const float> row);
    /// Adds a sparse row: indices must be ascending and less than the number of features.
    void add(std::span<const Feature> row);
    /// Memory of the rows in bytes.
    std::size_t bytes() const;
    /// Trains an L2-regularized SVM, bias included: score = row * weight + bias, above 0 for positives.
    /// labels: 0 or 1 per row. A label without positives or without negatives has weight 0 and bias -1 or 1.
    /// Weights (features) and bias () are float64.
    LinearScores train(std::span<const std::uint8_t> labels, const SvmSpec& spec) const;

private:
    std::int64_t features_;
    std::vector<std::vector<feature_node>> rows_;
};

}  // namespace bigbird::baselines
