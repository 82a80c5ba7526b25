// SPDX-License-Identifier: Apache-2.0
#include "bigbird/training/device/measured_device.hpp"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>

namespace bigbird::training {

namespace {

constexpr std::int64_t cpu_size = 1024, gpu_size = 8192;
constexpr int repetitions = 4;

/// A matrix of random numbers, (size, size). With ones, a GPU would use less power and compute more
/// operations per second than with a network's numbers. A separate generator on the CPU draws them; rows
/// repeat, because drawing is slow.
at::Tensor random_operand(std::int64_t size, const at::TensorOptions& options, std::uint64_t seed) {
    constexpr std::int64_t drawn = 512;
    const at::Generator generator = at::make_generator<at::CPUGeneratorImpl>(seed);
    return at::randn({drawn, size}, generator, at::kFloat).to(options).repeat({size / drawn, 1});
}

}  // namespace

std::int64_t peak_memory(const at::Device& device) {
    if (!device.is_cpu()) {
        const auto stats = at::getDeviceAllocator(device.type())->getDeviceStats(device.index());
        return stats.allocated_bytes[static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE)]
            .peak;
    }
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return static_cast<std::int64_t>(usage.ru_maxrss) * 1024;
}

double matrix_product_rate(ComputeType compute, const at::Device& device) {
    const at::NoGradGuard no_gradients;
    const std::int64_t size = device.is_cpu() ? cpu_size : gpu_size;
    const at::TensorOptions options =
        at::TensorOptions().device(device).dtype(compute == ComputeType::bf16 ? at::kBFloat16 : at::kFloat);
    const at::Tensor a = random_operand(size, options, 1), b = random_operand(size, options, 2);
    double best = 0;
    for (int i = 0; i < repetitions; ++i) {
        const auto start = std::chrono::steady_clock::now();
        at::matmul(a, b).select(0, 0).select(0, 0).item<float>();  // waits for the device
        const double seconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        const double operations = 2.0 * static_cast<double>(size) * static_cast<double>(size * size);
        best = std::max(best, operations / std::max(seconds, 1e-9));
    }
    return best;
}

}  // namespace bigbird::training
