// SPDX-License-Identifier: Apache-2.0
#include "bigbird/networks/splicing/cpu/splice_kernels.hpp"

#include "support/testing.hpp"

#include "bigbird/core/system/processor.hpp"
#include "bigbird/networks/splicing/fourier_filter.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <vector>

using namespace bigbird::networks;

namespace {

constexpr auto channels = static_cast<std::size_t>(splice_channels);

/// Those that this processor can run.
std::vector<SpliceKernels> runnable_kernels() {
    std::vector<SpliceKernels> all{splice_kernels_base()};
    if (bigbird::processor_instruction_set() >= bigbird::InstructionSet::avx2)
        all.push_back(splice_kernels_avx2());
    if (bigbird::processor_instruction_set() >= bigbird::InstructionSet::avx512)
        all.push_back(splice_kernels_avx512());
    return all;
}

std::vector<float> random_numbers(std::size_t count) {
    static std::mt19937 random(5);
    std::vector<float> numbers(count);
    for (float& number : numbers)
        number = static_cast<float>(random() % 2001) / 1000 - 1;
    return numbers;
}

double twin(const SpliceFilter& filter, const std::vector<float>& x, std::size_t row, std::size_t out) {
    double sum = filter.bias[out];
    for (std::size_t t = 0; t < static_cast<std::size_t>(filter.taps); ++t)
        for (std::size_t i = 0; i < channels; ++i)
            sum += double{x[(row + t * static_cast<std::size_t>(filter.dilation)) * channels + i]} *
                   filter.weights[(t * channels + i) * channels + out];
    return sum;
}

}  // namespace

DOCTEST_TEST_CASE(
    "splice_kernels: convolutions are those of a slow twin, whatever the numbers of rows and taps") {
    for (const auto& [taps, dilation] :
         std::array<std::array<std::int64_t, 2>, 4>{{{1, 1}, {3, 7}, {11, 4}, {41, 25}}}) {
        const auto weights = random_numbers(static_cast<std::size_t>(taps) * channels * channels),
                   bias = random_numbers(channels);
        const SpliceFilter filter{weights.data(), bias.data(), taps, dilation};
        for (const std::size_t rows : {std::size_t{1}, std::size_t{13}, std::size_t{48}, std::size_t{101}}) {
            const auto x = random_numbers((rows + static_cast<std::size_t>((taps - 1) * dilation)) *
                                          channels),
                       base = random_numbers(rows * channels);
            for (const SpliceKernels& kernels : runnable_kernels()) {
                std::vector<float> activated(rows * channels), added = base;
                kernels.convolve(filter, x.data(), static_cast<std::int64_t>(rows), 0.1F, activated.data());
                kernels.convolve_onto(filter, x.data(), static_cast<std::int64_t>(rows), added.data(),
                                      added.data());
                double largest = 0;
                for (std::size_t i = 0; i < rows * channels; i += 7) {
                    const double sum = twin(filter, x, i / channels, i % channels);
                    largest = std::max({largest, std::abs((sum > 0 ? sum : 0.1 * sum) - activated[i]),
                                        std::abs(sum + base[i] - added[i])});
                }
                DOCTEST_CHECK(largest < 2e-4);
            }
        }
    }
}

DOCTEST_TEST_CASE(
    "splice_kernels: convolutions by spectra are those of the slow twin, at every end of a block") {
    for (const auto& [taps, dilation] :
         std::array<std::array<std::int64_t, 2>, 5>{{{8, 3}, {11, 1}, {11, 4}, {21, 10}, {41, 25}}}) {
        const auto weights = random_numbers(static_cast<std::size_t>(taps) * channels * channels),
                   bias = random_numbers(channels);
        const SpliceFilter filter{weights.data(), bias.data(), taps, dilation};
        const FourierFilter spectrum(weights, taps, dilation);
        DOCTEST_CHECK_FALSE(spectrum.pays(1));
        DOCTEST_CHECK(spectrum.pays(spectrum.rows_together()));
        for (const std::int64_t rows : {std::int64_t{1}, std::int64_t{101}, spectrum.rows_together() + 7}) {
            const auto count = static_cast<std::size_t>(rows) * channels;
            const auto x = random_numbers(count + static_cast<std::size_t>((taps - 1) * dilation) * channels),
                       base = random_numbers(count);
            for (const SpliceKernels& kernels : runnable_kernels()) {
                std::vector<float> activated(count), added = base;
                const SpliceRows work(spectrum.work_rows());
                kernels.convolve_spectrum(spectrum.view(bias.data()), nullptr, x.data(), rows, 0.1F, nullptr,
                                          activated.data(), work.row(0));
                kernels.convolve_spectrum(spectrum.view(bias.data()), nullptr, x.data(), rows, 0.1F,
                                          added.data(), added.data(), work.row(0));
                double largest = 0;
                for (std::size_t i = 0; i < count; i += rows < 1000 ? 7 : 331) {
                    const double sum = twin(filter, x, i / channels, i % channels);
                    largest = std::max({largest, std::abs((sum > 0 ? sum : 0.1 * sum) - activated[i]),
                                        std::abs(sum + base[i] - added[i])});
                }
                DOCTEST_CHECK(largest < 1e-4);
            }
        }
    }
}

DOCTEST_TEST_CASE(
    "splice_kernels: spectra of rows that the kernel itself activates are the same to the bit") {
    constexpr std::int64_t taps = 11, dilation = 4, rows = 500;
    const auto weights = random_numbers(taps * channels * channels), bias = random_numbers(channels),
               scale = random_numbers(channels), shift = random_numbers(channels),
               x = random_numbers((rows + (taps - 1) * dilation) * channels);
    const SpliceNorm norm{scale.data(), shift.data(), 0.1F};
    const FourierFilter spectrum(weights, taps, dilation);
    for (const SpliceKernels& kernels : runnable_kernels()) {
        std::vector<float> active(x.size()), wanted(rows * channels), found(rows * channels);
        const SpliceRows work(spectrum.work_rows());
        kernels.activate(norm, x.data(), std::ssize(x) / std::int64_t{channels}, active.data());
        kernels.convolve_spectrum(spectrum.view(bias.data()), nullptr, active.data(), rows, 0, nullptr,
                                  wanted.data(), work.row(0));
        kernels.convolve_spectrum(spectrum.view(bias.data()), &norm, x.data(), rows, 0, nullptr, found.data(),
                                  work.row(0));
        DOCTEST_CHECK(found == wanted);
    }
}

DOCTEST_TEST_CASE("splice_kernels: activation is of the scaled and shifted number") {
    const auto x = random_numbers(5 * channels), scale = random_numbers(channels),
               shift = random_numbers(channels);
    for (const SpliceKernels& kernels : runnable_kernels()) {
        for (const float slope : {0.0F, 0.1F, 1.0F}) {
            std::vector<float> found(x.size());
            kernels.activate({scale.data(), shift.data(), slope}, x.data(), 5, found.data());
            for (std::size_t i = 0; i < x.size(); ++i) {
                const float value = x[i] * scale[i % channels] + shift[i % channels];
                DOCTEST_CHECK(std::abs(found[i] - (value > 0 ? value : slope * value)) < 1e-6F);
            }
        }
    }
}
