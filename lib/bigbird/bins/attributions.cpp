// SPDX-License-Identifier: Apache-2.0
#include "bigbird/bins/attributions.hpp"

#include "bigbird/bins/secants.hpp"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <vector>

namespace bigbird::bins {

namespace {

/// Gradients with respect to `letters` (samples, length, 4) of each label's scores, (samples, labels), summed
/// over samples. Returns (labels, samples, length, 4).
at::Tensor gradients_of(const at::Tensor& scores, const at::Tensor& letters,
                        std::span<const std::size_t> labels) {
    std::vector<at::Tensor> all;
    for (std::size_t i = 0; i < labels.size(); ++i) {
        const at::Tensor score = scores.select(1, static_cast<std::int64_t>(labels[i])).sum();
        all.push_back(
            torch::autograd::grad({score}, {letters}, {}, i + 1 < labels.size()).front().to(at::kFloat));
    }
    return at::stack(all);
}

/// Hypothetical contributions, (labels, length, 4), from multipliers (labels, length, 4) and one reference.
at::Tensor hypothetical(const at::Tensor& multipliers, const at::Tensor& reference) {
    return multipliers - (multipliers * reference).sum(2, true);
}

/// Scores without gradients: (samples, all labels).
at::Tensor scores_of(const Attributed& what, const at::Tensor& letters) {
    const at::NoGradGuard no_gradients;
    std::vector<at::Tensor> all;
    for (const at::Tensor& some : letters.split(what.at_once))
        all.push_back(what.scores(some));
    return at::cat(all).to(at::kDouble);
}

}  // namespace

at::Tensor gradients(const Attributed& what) {
    const at::AutoGradMode with_gradients(true);
    const at::Tensor letters = what.letters.unsqueeze(0).clone().requires_grad_();
    return gradients_of(what.scores(letters), letters, what.labels).squeeze(1);
}

at::Tensor integrated_gradients(const Attributed& what, const at::Tensor& references, int steps) {
    const Quadrature line(steps);
    const at::AutoGradMode with_gradients(true);
    const at::Tensor points = at::tensor(line.points, what.letters.options()).view({-1, 1, 1}),
                     weights = at::tensor(line.weights, what.letters.options()).view({1, -1, 1, 1});
    at::Tensor sum;
    for (const at::Tensor& reference : references.unbind()) {
        const at::Tensor path = reference + points * (what.letters - reference);
        at::Tensor multipliers;
        for (std::int64_t first = 0; first < steps; first += what.at_once) {
            const std::int64_t count = std::min<std::int64_t>(what.at_once, steps - first);
            const at::Tensor letters = path.narrow(0, first, count).clone().requires_grad_();
            const at::Tensor some =
                (gradients_of(what.scores(letters), letters, what.labels) * weights.narrow(1, first, count))
                    .sum(1);
            multipliers = multipliers.defined() ? multipliers + some : some;
        }
        const at::Tensor own = hypothetical(multipliers, reference);
        sum = sum.defined() ? sum + own : own;
    }
    return sum / references.size(0);
}

at::Tensor deeplift(const Attributed& what, const at::Tensor& references, int points) {
    const at::AutoGradMode with_gradients(true);
    const SecantGuard secants(points);
    at::Tensor sum;
    for (const at::Tensor& some : references.split(std::max<std::int64_t>(1, what.at_once / (2 * points)))) {
        const std::int64_t count = some.size(0);
        const at::Tensor letters = what.letters.expand({count, -1, -1}).clone().requires_grad_();
        const at::Tensor scores = what.scores(at::cat({letters, some})).narrow(0, 0, count);
        const at::Tensor multipliers = gradients_of(scores, letters, what.labels);
        for (std::int64_t i = 0; i < count; ++i) {
            const at::Tensor own = hypothetical(multipliers.select(1, i), some[i]);
            sum = sum.defined() ? sum + own : own;
        }
    }
    return sum / references.size(0);
}

at::Tensor score_differences(const Attributed& what, const at::Tensor& references) {
    const at::Tensor own = scores_of(what, what.letters.unsqueeze(0)), other = scores_of(what, references);
    const std::vector<std::int64_t> labels(what.labels.begin(), what.labels.end());
    return (own[0] - other.mean(0)).cpu().index_select(0, at::tensor(labels, at::kLong));
}

}  // namespace bigbird::bins
