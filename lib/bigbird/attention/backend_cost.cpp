// SPDX-License-Identifier: Apache-2.0

#include "bigbird/attention/backends.hpp"
#include "bigbird/attention/cpu/fused_kernel.hpp"
#include "bigbird/core/check.hpp"
#include "bigbird/core/system/processor.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace bigbird::attention {

namespace {

/// Nanoseconds per multiplication and per step, on processors with no more than `most`.
struct Rates {
    const char* candidate;
    bool bf16;
    double product, step;
    InstructionSet most = InstructionSet::amx;
};

// Measured on an AMD EPYC of the fourth generation; AMX on a Sapphire Rapids
// (docs/development/measurements.md), with the steps of avx512_bf16. ATen in bfloat16 without instructions
// for it: on a Xeon limited by BIGBIRD_CPU. The first matching row is used.
constexpr std::array<Rates, 14> rates{{
    {"amx", true, 0.0726, 184},
    {"avx2", true, 0.259, 186},
    {"avx2", false, 0.278, 102},
    {"avx512", true, 0.232, 166},
    {"avx512", false, 0.244, 147},
    {"avx512_bf16", true, 0.121, 184},
    {"blocked", true, 3.28, 1.43e+06, InstructionSet::avx2},
    {"blocked", true, 0.589, 1.05e+06, InstructionSet::avx512},
    {"blocked", true, 0.122, 1.03e+06},
    {"blocked", false, 0.297, 6.02e+05},
    {"dense", true, 1.13, 0, InstructionSet::avx2},
    {"dense", true, 0.344, 7.3e+05, InstructionSet::avx512},
    {"dense", true, 0.24, 7.33e+05},
    {"dense", false, 0.306, 5.17e+04},
}};

double padded(std::int64_t size, std::int64_t step) {
    return static_cast<double>((size + step - 1) / step * step);
}

}  // namespace

std::string Candidate::name(bool full) const {
    return kernel != nullptr ? kernel->name() : full ? "dense" : "blocked";
}

Work work_of(const Candidate& candidate, const LayerLayout& layout, std::int64_t head_dim) {
    const double block = layout.block_size, dim = static_cast<double>(head_dim);
    if (candidate.kernel != nullptr) {
        const int step = candidate.kernel->step();
        double pairs = 0;
        for (const BlockLayout& head : *layout.layouts)
            pairs += static_cast<double>(head.columns.size());
        pairs /= layout.heads;
        const double tile = padded(layout.block_size, step);
        return {pairs * tile * tile * padded(head_dim, step), pairs};
    }
    const double length = layout.blocks * block;
    if (layout.full) return {length * length * dim, 1};
    const double rows = static_cast<double>(layout.sparse_rows.size(0)),
                 dense = static_cast<double>(layout.dense_rows.size(0)),
                 width = static_cast<double>(layout.columns.size(2));
    const double row_elements = width * block * (3 * dim + 2 * block);
    const double slices =
        std::ceil(rows / std::max(1.0, std::floor(blocked_elements_at_once / row_elements)));
    return {(rows * width + dense * layout.blocks) * block * block * dim, slices};
}

double cost_of(const Candidate& candidate, const LayerLayout& layout, std::int64_t head_dim, bool bf16) {
    const std::string name = candidate.name(layout.full);
    const auto* const found = std::ranges::find_if(rates, [&](const Rates& r) {
        return name == r.candidate && bf16 == r.bf16 && instruction_set() <= r.most;
    });
    BIGBIRD_EXPECTS(found != rates.end(), "no rates are known for " + name);
    const Work work = work_of(candidate, layout, head_dim);
    return work.products * found->product + work.steps * found->step;
}

std::vector<Candidate> candidates(bool bf16) {
    std::vector<Candidate> all;
    for (const FusedKernel* kernel : fused_kernels(bf16))
        all.push_back({kernel});
    all.emplace_back();
    return all;
}

Candidate cheapest_candidate(const LayerLayout& layout, std::int64_t head_dim, bool bf16) {
    const std::vector<Candidate> all = candidates(bf16);
    return *std::ranges::min_element(
        all, {}, [&](const Candidate& candidate) { return cost_of(candidate, layout, head_dim, bf16); });
}

}  // namespace bigbird::attention
