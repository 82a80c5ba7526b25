// SPDX-License-Identifier: Apache-2.0
// From block layouts to the work lists of the CUDA kernels. Standard library only; tested without a device.
#pragma once

#include "bigbird/attention/cuda/kernels.hpp"
#include "bigbird/attention/pattern/pattern.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bigbird::attention::cuda {

/// Units and the lists that they refer to.
struct WorkList {
    std::vector<Unit> units;
    std::vector<Entry> entries;
    std::vector<Sum> sums;
    std::int32_t slots = 0;
};

/// The work of one attention pass over a sample. `queries` pairs query tiles, which share the key tiles that
/// they load. `keys` is the transposed list, with one key tile per unit. Lists beyond the maximum length of a
/// unit are divided.
struct Schedule {
    Tiling tiling;
    std::int32_t heads = 0;
    WorkList queries, keys;
    std::vector<float> biases;  ///< blocks_per_tile^2 floats per slot
};

Tiling make_tiling(int blocks, int block_size);

/// Returns the schedule of layouts (one per head, equal numbers of blocks, no element masks). `longest`: most
/// entries per unit; 0: twice the median list, at least 16. Deterministic. Throws ConfigError on element
/// masks.
Schedule make_schedule(const std::vector<BlockLayout>& heads, int block_size, int longest = 0);

/// Floats of workspace that the passes need for `samples` samples.
std::size_t forward_workspace(const Schedule& schedule, int samples, int head_dim);
std::size_t backward_workspace(const Schedule& schedule, int samples, int head_dim);

// Assigns the units to the teams of a persistent grid (pipeline.hpp). The host decides, so the device needs
// no counter and no reset between launches, and a CUDA graph can replay them. Standard library only.

/// Lists of unit numbers (sample * units of a sample + unit). Team t has units[first[t]] up to, not
/// including, units[first[t + 1]]. Thread block b has the teams from of_block * b on.
struct TeamLists {
    std::vector<std::int32_t> first, units;
    int teams() const { return static_cast<int>(first.size()) - 1; }
};

/// Products of two tiles that a unit computes: its work.
int products_of(const WorkList& work, const Unit& unit);

/// Estimated cost, in products, of starting and finishing a unit (loading its tiles, writing its rows).
inline constexpr int products_around_unit = 6;

/// Shares the units of `samples` samples among at most `blocks` thread blocks (one for each multiprocessor)
/// of `of_block` teams, longest first. Each unit goes to the block with the least work so far, there to the
/// team with the least, the first of equals. A team then goes through its units by number, so that at any
/// time all teams work on about the same heads, whose keys are in the L2 cache. Returns no block without
/// work. Deterministic; the lists change no result, because no two units write the same memory.
TeamLists share_units(const WorkList& work, int samples, int blocks, int of_block);

}  // namespace bigbird::attention::cuda
