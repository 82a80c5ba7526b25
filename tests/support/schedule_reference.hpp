// SPDX-License-Identifier: Apache-2.0
// The slow twin of the CUDA kernels: goes through a schedule unit by unit, as they do, in double.
#pragma once

#include "bigbird/attention/cuda/host/schedule.hpp"

#include <cstdint>
#include <vector>

namespace bigbird::attention::cuda {

/// Contiguous tensors, (samples, heads, length, head_dim), and the key mask (samples, length), 0 = padding.
struct ReferenceInput {
    int samples = 0, head_dim = 0;
    std::vector<double> q, k, v;
    std::vector<std::uint8_t> key_mask;
    bool zero_padded_queries = true;
};

/// out like q; lse (samples, heads, tiles, tile_tokens) as Arguments::lse, infinite where a query has no
/// gradient: padded, or behind the end of its tile.
struct ReferenceOutput {
    std::vector<double> out, lse;
};

struct ReferenceGradients {
    std::vector<double> dq, dk, dv;
};

ReferenceOutput reference_forward(const Schedule& schedule, const ReferenceInput& input);
ReferenceGradients reference_backward(const Schedule& schedule, const ReferenceInput& input,
                                      const ReferenceOutput& forward, const std::vector<double>& d_out);

}  // namespace bigbird::attention::cuda
