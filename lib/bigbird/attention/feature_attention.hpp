// SPDX-License-Identifier: Apache-2.0
// Attention by random features, linear in the length. It is independent of block attention (attention.hpp)
// and has neither blocks nor backends.
#pragma once

#include "bigbird/attention/features/random_features.hpp"

#include <ATen/core/Tensor.h>

#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace bigbird::attention {

/// (phi(q) (phi(k)^T v)) / (phi(q) sum phi(k)) over the real keys, in q's type; (batch, heads, length,
/// head_dim). With w the rows of `features`, (m, head_dim), and q and k times head_dim^(-1/4):
/// softmax: phi(x) = (exp(w.x - |x|^2 / 2 - most) + 1e-6) / sqrt(m), `most` being the largest exponent of a
/// query, or of all real keys of a sample's head. relu: phi(x) = max(w.x, 0) / sqrt(m) + 1e-3. Features and
/// sums are float32 (float64 where q is), also under autocast. q, k, v: any strides; key_mask: (batch,
/// length) bool, true = real. Padded keys are ignored; padded queries are computed like others; a sample
/// without a real key gives 0. Differentiable in q, k and v; `most` is treated as a constant. Memory grows
/// with length * (m + head_dim).
at::Tensor feature_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                             const at::Tensor& key_mask, const at::Tensor& features, FeatureKernel kernel);

/// The newest draw of each layer and device, made on first use. Thread-safe.
class FeatureCache {
public:
    FeatureCache(const FeatureSpec& spec, std::int64_t head_dim) : spec_(spec), head_dim_(head_dim) {}
    /// (features, head_dim) double.
    at::Tensor get(std::int64_t redraw, int layer, const at::Device& device);
    FeatureKernel kernel() const { return spec_.kernel; }

private:
    struct Draw {
        std::int64_t redraw = -1;
        at::Tensor features;
    };
    FeatureSpec spec_;
    std::int64_t head_dim_;
    std::mutex mutex_;
    std::map<std::pair<int, std::string>, Draw> kept_;
};

/// MKL chooses its vector functions in their first call. If two threads make that call at once, one of them
/// may use a less exact function: exp in float was off by 7e-5 in one process of fifty
/// (docs/development/measurements.md). So one thread makes the first call, before any parallel work.
/// Thread-safe; later calls cost nothing.
void choose_vector_functions();

}  // namespace bigbird::attention
