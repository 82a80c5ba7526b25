// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bigbird::evaluation {

/// Figures if scores of at least `threshold` count as positive.
struct CurvePoint {
    double threshold = 0, recall = 0, false_positive_rate = 0, precision = 0;
};

/// The points of the ROC and precision-recall curves, by descending threshold, one per distinct score. If
/// there are more than `most`, an evenly spaced selection that includes the last. Empty without positives or
/// without negatives.
std::vector<CurvePoint> curve_of(std::span<const float> scores, std::span<const std::uint8_t> labels,
                                 std::size_t most = 400);

// Whether scores are probabilities: do three in ten of the rows with a score of 0.3 have the label?

/// Rows whose scores are in one tenth of [0, 1]. A score between two tenths belongs to the lower one.
struct ReliabilityBin {
    std::int64_t rows = 0;
    double mean_score = 0, positive_share = 0;
};

struct Reliability {
    std::vector<ReliabilityBin> bins;  ///< those with rows, ascending
    double brier = 0;                  ///< mean of (score - label)^2
    double calibration_error = 0;      ///< mean over rows of |mean_score - positive_share| of the row's bin
                                       ///< (Naeini et al. 2015, expected calibration error)
};

/// A sentence about the bin that is farthest off, if scores are no probabilities: by more than 0.1, and by
/// more than three standard errors of its share. nullopt: no bin is.
std::optional<std::string> unreliable(const Reliability& reliability);

/// Adds up rows of one label or of several. Not thread-safe.
class ReliabilityCounter {
public:
    /// `scores` and `labels` have the same size; a label is 0 or 1.
    void add(std::span<const float> scores, std::span<const std::uint8_t> labels);
    /// Returns nullopt without rows, or if a score was not in [0, 1].
    std::optional<Reliability> reliability() const;

private:
    static constexpr std::size_t tenths = 10;
    struct Sums {
        std::int64_t rows = 0, positives = 0;
        double scores = 0;
    };
    Sums sums_[tenths];
    double squares_ = 0;
    bool are_probabilities_ = true;
};

}  // namespace bigbird::evaluation
