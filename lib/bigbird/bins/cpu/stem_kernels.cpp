// SPDX-License-Identifier: Apache-2.0
#include "bigbird/bins/cpu/stem_kernels.hpp"

#include "bigbird/bins/cpu/stem_impl.hpp"
#include "bigbird/core/system/processor.hpp"

namespace bigbird::bins {

namespace {

StemKernels choose_kernels() {
#if defined(__x86_64__)
    if (instruction_set() >= InstructionSet::avx512) return stem_kernels_avx512();
    if (instruction_set() >= InstructionSet::avx2) return stem_kernels_avx2();
#endif
    return stem_kernels_base();
}

/// filter_points[p][j]: what tap j adds to point p; the points are 0, 1, -1, 2, -2, 1/2, -1/2 and infinity.
constexpr float filter_points[points][taps] = {
    {1, 0, 0, 0, 0},
    {-2.0F / 9, -2.0F / 9, -2.0F / 9, -2.0F / 9, -2.0F / 9},
    {-2.0F / 9, 2.0F / 9, -2.0F / 9, 2.0F / 9, -2.0F / 9},
    {1.0F / 90, 2.0F / 90, 4.0F / 90, 8.0F / 90, 16.0F / 90},
    {1.0F / 90, -2.0F / 90, 4.0F / 90, -8.0F / 90, 16.0F / 90},
    {4.0F / 45, 2.0F / 45, 1.0F / 45, 0.5F / 45, 0.25F / 45},
    {4.0F / 45, -2.0F / 45, 1.0F / 45, -0.5F / 45, 0.25F / 45},
    {0, 0, 0, 0, 1},
};

}  // namespace

StemKernels stem_kernels_base() {
    return kernels_of_this_set;
}

const StemKernels& stem_kernels() {
    static const StemKernels chosen = choose_kernels();
    return chosen;
}

void filters_to_points(const ConvolutionShape& shape, const float* weight, bool turned, float* to) {
    for (std::int64_t o = 0; o < shape.out; ++o) {
        for (std::int64_t i = 0; i < shape.in; ++i, weight += taps) {
            for (std::int64_t p = 0; p < points; ++p) {
                float sum = 0;
                for (std::int64_t j = 0; j < taps; ++j)
                    sum += filter_points[p][j] * weight[turned ? taps - 1 - j : j];
                to[turned ? (p * shape.out + o) * shape.in + i : (p * shape.in + i) * shape.out + o] = sum;
            }
        }
    }
}

void filters_from_points(const ConvolutionShape& shape, const float* filters, float* weight) {
    for (std::int64_t o = 0; o < shape.out; ++o) {
        for (std::int64_t i = 0; i < shape.in; ++i, weight += taps) {
            for (std::int64_t j = 0; j < taps; ++j) {
                weight[j] = 0;
                for (std::int64_t p = 0; p < points; ++p)
                    weight[j] += filter_points[p][j] * filters[(p * shape.in + i) * shape.out + o];
            }
        }
    }
}

}  // namespace bigbird::bins
