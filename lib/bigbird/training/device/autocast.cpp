// SPDX-License-Identifier: Apache-2.0
#include "bigbird/training/device/autocast.hpp"

#include "bigbird/model/device/device.hpp"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/autocast_mode.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/util/Exception.h>
#include <malloc.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <limits>

namespace bigbird::training {

ComputeType parse_compute_type(const std::string& word, const at::Device& device) {
    if (word == "auto") return device.is_cpu() ? ComputeType::fp32 : ComputeType::bf16;
    if (word == "fp32") return ComputeType::fp32;
    if (word == "bf16") {
        return model::arithmetic_type(at::kBFloat16, device) == at::kBFloat16 ? ComputeType::bf16
                                                                              : ComputeType::fp32;
    }
    throw ConfigError("--dtype is '" + word + "'; it can be auto, fp32 or bf16");
}

Autocast::Autocast(ComputeType type, const at::Device& device)
    : device_(device.type()), on_(type == ComputeType::bf16 && model::computes_bf16(device)) {
    if (on_) {
        before_ = at::autocast::is_autocast_enabled(device_);
        type_before_ = at::autocast::get_autocast_dtype(device_);
        at::autocast::set_autocast_dtype(device_, at::kBFloat16);
        at::autocast::set_autocast_enabled(device_, true);
        at::autocast::increment_nesting();
    }
}

Autocast::~Autocast() {
    if (on_) {
        if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
        at::autocast::set_autocast_enabled(device_, before_);
        at::autocast::set_autocast_dtype(device_, type_before_);
    }
}

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

constexpr int large_block = 1 << 20, most_blocks = 1 << 16;

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

double available_memory(const at::Device& device) {
    if (!device.is_cpu()) {
        try {
            const auto info = at::getDeviceAllocator(device.type())->getMemoryInfo(device.index());
            return static_cast<double>(info.first);
        } catch (const c10::Error&) {  // an allocator without statistics
            return std::numeric_limits<double>::infinity();
        }
    }
    return free_memory();
}

void keep_little_memory() {
    ::mallopt(M_MMAP_MAX, most_blocks);
    ::mallopt(M_MMAP_THRESHOLD, large_block);
}

}  // namespace bigbird::training
