// SPDX-License-Identifier: Apache-2.0
#include "bigbird/attention/cpu/fused_kernel.hpp"
#include "bigbird/core/system/processor.hpp"

namespace bigbird::attention {

namespace {

std::vector<const FusedKernel*> usable_kernels(bool bf16) {
    const InstructionSet has = instruction_set();
    std::vector<const FusedKernel*> kernels;
    if (bf16 && has >= InstructionSet::amx) kernels.push_back(fused_kernel_amx());
    if (bf16 && has >= InstructionSet::avx512_bf16) kernels.push_back(fused_kernel_avx512_bf16());
    if (has >= InstructionSet::avx512) kernels.push_back(cpu_kernels_avx512().fused);
    if (has >= InstructionSet::avx2) kernels.push_back(cpu_kernels_avx2().fused);
    std::erase(kernels, nullptr);
    return kernels;
}

}  // namespace

const std::vector<const FusedKernel*>& fused_kernels(bool bf16) {
    static const std::vector<const FusedKernel*> of_float = usable_kernels(false),
                                                 of_bf16 = usable_kernels(true);
    return bf16 ? of_bf16 : of_float;
}

const ElementwiseKernels* elementwise_kernels() {
    static const ElementwiseKernels* const kernels = [] {
        const InstructionSet has = instruction_set();
        const ElementwiseKernels* const widest =
            has >= InstructionSet::avx512 ? cpu_kernels_avx512().elementwise : nullptr;
        return widest != nullptr || has < InstructionSet::avx2 ? widest : cpu_kernels_avx2().elementwise;
    }();
    return kernels;
}

KeyRows transpose(const BlockLayout& layout, std::int64_t blocks) {
    KeyRows keys;
    keys.offsets.assign(static_cast<std::size_t>(blocks) + 1, 0);
    for (const std::int32_t column : layout.columns)
        ++keys.offsets[static_cast<std::size_t>(column) + 1];
    for (std::size_t i = 1; i < keys.offsets.size(); ++i)
        keys.offsets[i] += keys.offsets[i - 1];
    keys.rows.resize(layout.columns.size());
    keys.entries.resize(layout.columns.size());
    std::vector<std::int32_t> next = keys.offsets;
    for (std::int32_t row = 0; row < layout.rows(); ++row) {
        for (const std::size_t entry : layout.entries(row)) {
            const auto at = static_cast<std::size_t>(next[static_cast<std::size_t>(layout.columns[entry])]++);
            keys.rows[at] = row;
            keys.entries[at] = static_cast<std::int32_t>(entry);
        }
    }
    return keys;
}

}  // namespace bigbird::attention
