// SPDX-License-Identifier: Apache-2.0
// Which team of a persistent grid (pipeline.hpp) computes which units: decided on the host, so that nothing
// is drawn from a counter on the device, nothing is reset between launches, and a CUDA graph can replay them.
// Standard library only.
#pragma once

#include "bigbird/attention/cuda/host/schedule.hpp"

#include <cstdint>
#include <vector>

namespace bigbird::attention::cuda {

/// Lists of unit numbers (sample * units of a sample + unit). Team t has units[first[t]] up to, not
/// including, units[first[t + 1]]. Teams `of_block * b` and up are those of thread block b.
struct TeamLists {
    std::vector<std::int32_t> first, units;
    int teams() const { return static_cast<int>(first.size()) - 1; }
};

/// Products of two tiles that a unit computes: its work.
int products_of(const WorkList& work, const Unit& unit);

/// What starting and finishing a unit (its tiles loaded, its rows written) counts as, in products; an
/// estimate.
inline constexpr int products_around_unit = 6;

/// Shares the units of `samples` samples among at most `blocks` thread blocks (one for each multiprocessor)
/// of `of_block` teams, longest first: each unit goes to the block with the least work so far, there to the
/// team with the least, the first of equals. A team then goes through its units by number, so that at any
/// time all teams are at about the same heads, whose keys are in the L2 cache. No more blocks than have work.
/// Deterministic; the lists change no result, because what a unit writes, it alone writes.
TeamLists share_units(const WorkList& work, int samples, int blocks, int of_block);

}  // namespace bigbird::attention::cuda
