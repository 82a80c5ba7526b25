// SPDX-License-Identifier: Apache-2.0
// What each letter of a sequence contributes to scores, by gradients with regard to letters.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace bigbird::bins {

/// Scores of sequences as numbers, (batch, length, 4) float32 -> (batch, labels), with gradients with regard
/// to the letters, under a SecantGuard with secants.
using LetterScores = std::function<at::Tensor(const at::Tensor& letters)>;

/// What is asked of scores. `letters`: (length, 4) float32, one-hot or 0 of N.
struct Attributed {
    const LetterScores& scores;
    at::Tensor letters;
    std::span<const std::size_t> labels;  ///< those that are attributed
    std::int64_t at_once = 1;             ///< sequences in a batch, at most
};

/// Slopes at the sequence: (labels, length, 4) float32.
at::Tensor gradients(const Attributed& what);

/// Multipliers against references, (references, length, 4), and what hypothetical letters would contribute,
/// their mean over references: (letter - reference) * multiplier, summed over the reference's letters. The
/// entries of the sequence's own letters are its contributions. (labels, length, 4) float32.
/// integrated_gradients: by Gauss and Legendre's quadrature of `steps` points (Sundararajan and others 2017).
at::Tensor integrated_gradients(const Attributed& what, const at::Tensor& references, int steps = 50);
/// deeplift: secants.hpp, with lines of `points` points; a batch holds Attributed::at_once points.
at::Tensor deeplift(const Attributed& what, const at::Tensor& references, int points = 8);

/// The difference that contributions sum to: scores of the sequence less the mean of the references',
/// (labels) float64.
at::Tensor score_differences(const Attributed& what, const at::Tensor& references);

}  // namespace bigbird::bins
