// SPDX-License-Identifier: Apache-2.0
// The random features of FAVOR+ (Choromanski and others 2021, "Rethinking Attention with Performers").
// Standard library only: feature_attention.hpp computes with them.
#pragma once

#include "bigbird/core/choice.hpp"

#include <cstdint>
#include <vector>

namespace bigbird::attention {

/// The kernel whose products of features replace the attention weights. softmax: features exp(w.x - |x|^2 /
/// 2), all positive, whose products estimate exp(q.k) without bias. relu: features max(w.x, 0), which
/// estimate a different kernel.
enum class FeatureKernel : std::uint8_t { softmax, relu };
inline constexpr Choices<FeatureKernel, 2> feature_kernels{
    {{FeatureKernel::softmax, "softmax"}, {FeatureKernel::relu, "relu"}}};

struct FeatureSpec {
    std::int64_t features = 256;
    FeatureKernel kernel = FeatureKernel::softmax;
    /// Each group of head_dim rows is orthogonal, which gives a smaller error than independent rows.
    bool orthogonal = true;
    std::int64_t redraw_every = 0;  ///< steps of pretraining; 0: never
    std::uint64_t seed = 0;
    std::int64_t redraw = 0;  ///< the number of the draw that is in use; 0 is the first

    /// The draw that a step of pretraining (from 1) uses, if the run begins with `redraw`.
    std::int64_t redraw_at(std::int64_t step) const {
        return redraw_every == 0 ? redraw : redraw + (step - 1) / redraw_every;
    }
    /// Throws ConfigError.
    void validate() const;
    bool operator==(const FeatureSpec&) const = default;
};

/// The rows w, (features, head_dim), row by row; all heads of a layer share them. Each is standard normal. A
/// function only of (seed, layer, redraw, features, head_dim, orthogonal): Gaussian row r comes from
/// Rng(seed).split("random-features").split(layer).split(redraw).split(r). Orthogonal: each head_dim rows by
/// Gram-Schmidt, then as long as a Gaussian row from the same stream's split("lengths").split(r).
std::vector<double> draw_features(const FeatureSpec& spec, int layer, std::int64_t head_dim);

}  // namespace bigbird::attention
