// SPDX-License-Identifier: Apache-2.0
// Contributions of each letter of a sequence to scores, from gradients with respect to the letters.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace bigbird::bins {

/// Scores of one-hot sequences: (batch, length, 4) float32 -> (batch, labels). They have gradients with
/// respect to the letters. Under a SecantGuard these follow DeepLIFT's rules.
using LetterScores = std::function<at::Tensor(const at::Tensor& letters)>;

/// A sequence to attribute, and the scores. `letters`: (length, 4) float32, one-hot, all 0 for N.
struct Attributed {
    const LetterScores& scores;
    at::Tensor letters;
    std::span<const std::size_t> labels;  ///< indices of the labels to attribute
    std::int64_t at_once = 1;             ///< maximum number of sequences per batch
};

/// Gradients at the sequence: (labels, length, 4) float32.
at::Tensor gradients(const Attributed& what);

/// integrated_gradients() follows Sundararajan et al. 2017, with Gauss-Legendre quadrature of `steps` points.
/// Both functions compute multipliers against `references`, (references, length, 4). Both return hypothetical
/// contributions, (labels, length, 4) float32: (letter - reference) * multiplier, summed over the reference's
/// letters, as the mean over references. The entries of the sequence's own letters are its contributions.
at::Tensor integrated_gradients(const Attributed& what, const at::Tensor& references, int steps = 50);
/// DeepLIFT with the rules of secants.hpp, on lines of `points` points. A batch holds at most
/// Attributed::at_once points.
at::Tensor deeplift(const Attributed& what, const at::Tensor& references, int points = 8);

/// The differences that contributions should sum to: (labels) float64. Each is the sequence's score minus the
/// mean score of the references.
at::Tensor score_differences(const Attributed& what, const at::Tensor& references);

}  // namespace bigbird::bins
