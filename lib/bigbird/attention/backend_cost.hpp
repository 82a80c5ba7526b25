// SPDX-License-Identifier: Apache-2.0
// What attention costs on a CPU, by measurement: times of every candidate were taken on many shapes
// (tests/bench/attention_bench) and brought to two rates a candidate and type
// (scripts/checks/fit_attention_costs.py), which stand in backend_cost.cpp. A choice by these rates is a
// function of shape, type and processor alone, so that the same inputs give the same bytes on every run;
// timing each run anew would not.
#pragma once

#include "bigbird/attention/attention.hpp"

#include <string>
#include <vector>

namespace bigbird::attention {

class FusedKernel;

/// Code that attention may be computed by: a fused kernel, or ATen's (`blocked`, which is LibTorch's
/// attention for full layouts) where `kernel` is none.
struct Candidate {
    const FusedKernel* kernel = nullptr;
    /// "avx2", "avx512", "avx512_bf16", "amx"; "blocked" and, for full layouts, "dense".
    std::string name(bool full) const;
};

/// The work of one head of one sample on average, a fused kernel's padding to whole tiles included.
struct Work {
    double products = 0;  ///< multiplications for the scores
    double steps = 0;     ///< what has a cost of its own: pairs of blocks, or slices of query blocks
};
Work work_of(const Candidate& candidate, const LayerLayout& layout, std::int64_t head_dim);

/// Nanoseconds for one head of one sample on one thread, by the rates: a forward pass alone, and one with its
/// backward pass, together.
double cost_of(const Candidate& candidate, const LayerLayout& layout, std::int64_t head_dim, bool bf16);

/// What this processor can run for a type; ATen's is always the last.
std::vector<Candidate> candidates(bool bf16);

/// The candidate that costs least, for passes with and without gradients alike.
Candidate cheapest_candidate(const LayerLayout& layout, std::int64_t head_dim, bool bf16);

}  // namespace bigbird::attention
