// SPDX-License-Identifier: Apache-2.0
// The first stage of the stem: from bases to the first positions.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace bigbird::bins {

/// Codes (A C G T: 0 to 3; N and all else: 4), (batch, length) uint8, to (batch, length, 4) float32, all 0
/// for N. A tensor with three dimensions is returned unchanged.
at::Tensor base_channels(const at::Tensor& bases);

struct FirstStage {
    at::Tensor weight, bias;  ///< (channels, 4, width), (channels)
    at::Tensor sharpness;     ///< (channels)
    std::int64_t pool = 1;    ///< bases of a position
    bool both_strands = false;
    std::int64_t motif_filters = 0;
    std::int64_t bin = 0;  ///< bases, a multiple of pool
};

struct StemOutput {
    at::Tensor positions;  ///< (batch, length / bases of a position, channels)
    /// (batch, length / bin, motif_filters): the maximum of each of the first filters in a bin, on either
    /// strand if both are read, before gelu; undefined without motif_filters.
    at::Tensor sites;
};

/// Convolves the bases, (batch, length) uint8 codes or (batch, length, 4) floats, on one strand or both, and
/// pools gelu of the filters' values (layers.hpp). Differentiable; where several bases of a bin share
/// the maximum, a site's gradient is split evenly between them. On a CPU, float32 uses our own kernels
/// (cpu/stem_kernels.hpp), which keep only the bases for the backward pass and give the same bits for any
/// number of windows and threads. A GPU uses first_stage_in_parts(). Floats have gradients, too, and are
/// computed by first_stage_reference() on a CPU.
StemOutput first_stage(const at::Tensor& bases, const FirstStage& stage);

/// Values of the filters that a part has at most: 256 MB in float32.
inline constexpr std::int64_t values_of_part = 1 << 26;
/// first_stage_reference() with at most `most` values of the filters in memory (at least those of a bin). The
/// backward pass computes each part again.
StemOutput first_stage_in_parts(const at::Tensor& bases, const FirstStage& stage,
                                std::int64_t most = values_of_part);

/// The same by LibTorch's operations: any device, readable, slow.
StemOutput first_stage_reference(const at::Tensor& bases, const FirstStage& stage);

}  // namespace bigbird::bins
