// SPDX-License-Identifier: Apache-2.0
// Dropout with masks that are a function of (seed, step, sample, site), not of a generator's history. So a
// result does not depend on batch, micro-batch, rank or thread, and a resumed run has the same masks.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace bigbird::model {

/// Fixes the dropout masks of one forward pass: the same key, the same masks. Row r of the batch is sample
/// samples[r] or, where there are none, first_sample + r. Not used in eval mode.
struct DropoutKey {
    std::uint64_t seed = 0;
    std::int64_t step = 0, first_sample = 0;
    std::vector<std::int64_t> samples = {};
};

/// The position in the network where a mask is used.
struct DropoutSite {
    enum class Place : std::uint8_t {
        embeddings,
        attention_probabilities,
        attention_output,
        output,
        classifier_input,
        classifier_middle,
        adapter
    };
    Place place;
    std::int64_t layer = 0;
};

/// The keys of the random streams that `rows` rows use at a site, for dropout() on the CPU and for the CUDA
/// kernels.
std::vector<std::int64_t> dropout_streams(std::int64_t rows, const DropoutKey& key, const DropoutSite& site);

/// Zeroes each element with probability `probability` and scales the others by 1 / (1 - probability). x:
/// (batch, …); row r belongs to the key's r-th sample. On the CPU, whether an element is dropped is a fixed
/// function of the key, the site and its index in the row. On another device LibTorch's generator is seeded
/// once per row, so masks differ between kinds of device. Differentiable; keeps no mask.
at::Tensor dropout(const at::Tensor& x, double probability, const DropoutKey& key, const DropoutSite& site);

/// Returns only the factors: 0 or 1 / (1 - probability). shape: (batch, …).
at::Tensor dropout_factors(at::IntArrayRef shape, const at::TensorOptions& options, double probability,
                           const DropoutKey& key, const DropoutSite& site);

}  // namespace bigbird::model
