// SPDX-License-Identifier: Apache-2.0
#include "support/testing.hpp"

#include "bigbird/attention/cpu/elementwise.hpp"
#include "bigbird/attention/cpu/fused_kernel.hpp"
#include "bigbird/core/system/processor.hpp"

using namespace bigbird::attention;
using bigbird::instruction_set;
using bigbird::InstructionSet;

namespace {

std::vector<std::string> names(bool bf16) {
    std::vector<std::string> all;
    for (const FusedKernel* kernel : fused_kernels(bf16)) {
        all.push_back(kernel->name());
    }
    return all;
}

}  // namespace

DOCTEST_TEST_CASE(
    "fused_dispatch: kernels are those of the instruction set that may be used, the newest first") {
    std::vector<std::string> wanted;
    if (instruction_set() >= InstructionSet::avx512) wanted.emplace_back("avx512");
    if (instruction_set() >= InstructionSet::avx2) wanted.emplace_back("avx2");
    DOCTEST_CHECK(names(false) == wanted);
    if (instruction_set() >= InstructionSet::avx512_bf16) wanted.insert(wanted.begin(), "avx512_bf16");
    if (instruction_set() >= InstructionSet::amx) wanted.insert(wanted.begin(), "amx");
    DOCTEST_CHECK(names(true) == wanted);
    DOCTEST_CHECK((elementwise_kernels() != nullptr) == (instruction_set() >= InstructionSet::avx2));
}

DOCTEST_TEST_CASE("fused_dispatch: what serves float serves bfloat16, too") {
    DOCTEST_CHECK(fused_kernels(true).size() >= fused_kernels(false).size());
}

DOCTEST_TEST_CASE("fused_dispatch: transposed lists name each pair once, query blocks ascending") {
    const BlockLayout layout = make_layout(PatternSpec{}, 20, 2, 1);
    const KeyRows keys = transpose(layout, 20);
    DOCTEST_REQUIRE(keys.rows.size() == layout.columns.size());
    for (std::size_t column = 0; column < 20; ++column) {
        for (auto i = static_cast<std::size_t>(keys.offsets[column]);
             i < static_cast<std::size_t>(keys.offsets[column + 1]); ++i) {
            const auto entry = static_cast<std::size_t>(keys.entries[i]);
            DOCTEST_CHECK(layout.columns[entry] == static_cast<std::int32_t>(column));
            const auto row = static_cast<std::size_t>(keys.rows[i]);
            DOCTEST_CHECK(layout.row_offsets[row] <= keys.entries[i]);
            DOCTEST_CHECK(keys.entries[i] < layout.row_offsets[row + 1]);
            if (i > static_cast<std::size_t>(keys.offsets[column])) {
                DOCTEST_CHECK(keys.rows[i - 1] < keys.rows[i]);
            }
        }
    }
}
