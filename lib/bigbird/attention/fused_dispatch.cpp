// SPDX-License-Identifier: Apache-2.0
#include "bigbird/attention/fused/kernels.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace bigbird::attention {

namespace {

#if defined(__x86_64__)

/// Whether the processor has bfloat16 matrix tiles and the system lets this process use them.
bool has_matrix_tiles() {
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || (d & (1U << 22)) == 0 || (d & (1U << 24)) == 0) {
        return false;
    }
    constexpr long request_permission = 0x1023, tile_data = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
    return syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
}

struct Processor {
    bool avx2 = false, avx512 = false, avx512_bf16 = false, amx = false;
    Processor() {
        __builtin_cpu_init();
        avx2 = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
        avx512 = avx2 && __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
                 __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0;
        avx512_bf16 = avx512 && __builtin_cpu_supports("avx512bf16") != 0;
        amx = avx512_bf16 && has_matrix_tiles();
    }
};

std::vector<const FusedKernel*> usable_kernels(bool bf16) {
    const Processor processor;
    std::vector<const FusedKernel*> kernels;
    const auto offer = [&](bool usable, const FusedKernel* kernel) {
        if (usable && kernel != nullptr) {
            kernels.push_back(kernel);
        }
    };
    offer(bf16 && processor.amx, fused_kernel_amx());
    offer(bf16 && processor.avx512_bf16, fused_kernel_avx512_bf16());
    offer(processor.avx512, fused_kernel_avx512());
    offer(processor.avx2, fused_kernel_avx2());
    return kernels;
}

const ElementwiseKernels* usable_elementwise() {
    const Processor processor;
    if (processor.avx512 && elementwise_avx512() != nullptr) {
        return elementwise_avx512();
    }
    return processor.avx2 ? elementwise_avx2() : nullptr;
}

#else

std::vector<const FusedKernel*> usable_kernels(bool) {
    return {};
}

const ElementwiseKernels* usable_elementwise() {
    return nullptr;
}

#endif

}  // namespace

const std::vector<const FusedKernel*>& fused_kernels(bool bf16) {
    static const std::vector<const FusedKernel*> of_float = usable_kernels(false),
                                                 of_bf16 = usable_kernels(true);
    return bf16 ? of_bf16 : of_float;
}

const ElementwiseKernels* elementwise_kernels() {
    static const ElementwiseKernels* const kernels = usable_elementwise();
    return kernels;
}

KeyRows transpose(const BlockLayout& layout, std::int64_t blocks) {
    KeyRows keys;
    keys.offsets.assign(static_cast<std::size_t>(blocks) + 1, 0);
    for (const std::int32_t column : layout.columns) {
        ++keys.offsets[static_cast<std::size_t>(column) + 1];
    }
    for (std::size_t i = 1; i < keys.offsets.size(); ++i) {
        keys.offsets[i] += keys.offsets[i - 1];
    }
    keys.rows.resize(layout.columns.size());
    keys.entries.resize(layout.columns.size());
    std::vector<std::int32_t> next = keys.offsets;
    for (std::int32_t row = 0; row < layout.rows(); ++row) {
        for (std::int32_t entry = layout.row_offsets[static_cast<std::size_t>(row)];
             entry < layout.row_offsets[static_cast<std::size_t>(row) + 1]; ++entry) {
            const std::int32_t column = layout.columns[static_cast<std::size_t>(entry)];
            const auto at = static_cast<std::size_t>(next[static_cast<std::size_t>(column)]++);
            keys.rows[at] = row;
            keys.entries[at] = entry;
        }
    }
    return keys;
}

}  // namespace bigbird::attention
