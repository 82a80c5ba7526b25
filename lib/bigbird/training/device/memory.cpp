// SPDX-License-Identifier: Apache-2.0
#include "bigbird/training/device/memory.hpp"

#include <c10/core/CachingDeviceAllocator.h>
#include <c10/util/Exception.h>
#include <malloc.h>

#include <limits>

namespace bigbird::training {

namespace {

constexpr int large_block = 1 << 20, most_blocks = 1 << 16;

}  // namespace

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
