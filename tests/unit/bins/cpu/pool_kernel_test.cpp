// SPDX-License-Identifier: Apache-2.0
#include "support/testing.hpp"

#include "bigbird/bins/cpu/stem_kernels.hpp"
#include "bigbird/core/system/processor.hpp"

#include <cmath>
#include <vector>

using namespace bigbird::bins;

namespace {

/// One output of one channel, in double precision.
double pooled(const std::vector<double>& x, double sharpness) {
    double sum = 0, weights = 0;
    for (const double value : x) {
        sum += value * std::exp(sharpness * value);
        weights += std::exp(sharpness * value);
    }
    return sum / weights;
}

/// Those that this processor can run.
std::vector<PoolKernel> kernels() {
    std::vector<PoolKernel> all{stem_kernels_base().pool};
    if (bigbird::processor_instruction_set() >= bigbird::InstructionSet::avx2)
        all.push_back(stem_kernels_avx2().pool);
    if (bigbird::processor_instruction_set() >= bigbird::InstructionSet::avx512)
        all.push_back(stem_kernels_avx512().pool);
    return all;
}

void check_against_double(const PoolKernel& kernel) {
    const PoolShape shape{.outputs = 3, .pool = 5, .channels = 70};  // no whole number of strips
    std::vector<float> x(3 * 5 * 70), sharpness(70), y(3 * 70), dy(3 * 70), dx(x.size()), ds(70, 0.0F);
    for (std::size_t i = 0; i < x.size(); ++i)
        x[i] = 4 * std::sin(static_cast<float>(i) * 1.7F);
    for (std::size_t c = 0; c < sharpness.size(); ++c)
        sharpness[c] = static_cast<float>(c) / 20 - 1;
    for (std::size_t i = 0; i < dy.size(); ++i)
        dy[i] = std::cos(static_cast<float>(i));
    kernel.forward(shape, x.data(), sharpness.data(), y.data());
    kernel.backward(shape, x.data(), sharpness.data(), dy.data(), dx.data(), ds.data());
    for (std::size_t c = 0; c < 70; ++c) {
        double by_sharpness = 0;
        const auto sharp = static_cast<double>(sharpness[c]);
        for (std::size_t o = 0; o < 3; ++o) {
            std::vector<double> values;
            for (std::size_t j = 0; j < 5; ++j)
                values.push_back(static_cast<double>(x[(o * 5 + j) * 70 + c]));
            const auto slope = static_cast<double>(dy[o * 70 + c]);
            DOCTEST_CHECK(static_cast<double>(y[o * 70 + c]) ==
                          doctest::Approx(pooled(values, sharp)).epsilon(1e-5));
            constexpr double h = 1e-5;
            by_sharpness += slope * (pooled(values, sharp + h) - pooled(values, sharp - h)) / (2 * h);
            for (std::size_t j = 0; j < 5; ++j) {
                auto up = values, down = values;
                up[j] += h;
                down[j] -= h;
                const double wanted = slope * (pooled(up, sharp) - pooled(down, sharp)) / (2 * h);
                DOCTEST_CHECK(std::abs(static_cast<double>(dx[(o * 5 + j) * 70 + c]) - wanted) < 2e-5);
            }
        }
        DOCTEST_CHECK(std::abs(static_cast<double>(ds[c]) - by_sharpness) < 1e-4);
    }
}

}  // namespace

DOCTEST_TEST_CASE("pool kernel: agrees with double precision, and its gradients with differences") {
    for (const PoolKernel& kernel : kernels())
        check_against_double(kernel);
}

DOCTEST_TEST_CASE("pool kernel: large values neither overflow nor vanish") {
    const std::vector<float> x{1000, -1000, 999, 3}, sharpness{2};
    for (const PoolKernel& kernel : kernels()) {
        float y = 0;
        kernel.forward({1, 4, 1}, x.data(), sharpness.data(), &y);
        DOCTEST_CHECK(y == doctest::Approx((1000 + 999 * std::exp(-2.0)) / (1 + std::exp(-2.0))));
    }
}
