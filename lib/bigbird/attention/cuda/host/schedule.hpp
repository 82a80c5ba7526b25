// SPDX-License-Identifier: Apache-2.0
// From block layouts to the work lists of the CUDA kernels. Standard library only; tested without a device.
#pragma once

#include "bigbird/attention/cuda/arguments.hpp"
#include "bigbird/attention/pattern/pattern.hpp"

#include <cstddef>
#include <vector>

namespace bigbird::attention::cuda {

/// Units and what they point into.
struct WorkList {
    std::vector<Unit> units;
    std::vector<Entry> entries;
    std::vector<Sum> sums;
    std::int32_t slots = 0;
};

/// The work of one attention over a sample. `queries` pairs query tiles, which share the key tiles that they
/// load; `keys` is the transposed list, one key tile a unit. Lists longer than a unit should be are cut.
struct Schedule {
    Tiling tiling;
    std::int32_t heads = 0;
    WorkList queries, keys;
    std::vector<float> biases;  ///< blocks_per_tile^2 floats a place
};

Tiling make_tiling(int blocks, int block_size);
/// The first token of a tile and how many it has.
int first_token(const Tiling& tiling, int tile);
int tokens_of(const Tiling& tiling, int tile);

/// The schedule of layouts (one a head, equal numbers of blocks, no element masks). `longest`: entries of a
/// unit at most; 0: twice the median list, at least 16. Deterministic. Throws ConfigError on element masks.
Schedule make_schedule(const std::vector<BlockLayout>& heads, int block_size, int longest = 0);

/// Floats of workspace that the passes need for `samples` samples.
std::size_t forward_workspace(const Schedule& schedule, int samples, int head_dim);
std::size_t backward_workspace(const Schedule& schedule, int samples, int head_dim);

}  // namespace bigbird::attention::cuda
