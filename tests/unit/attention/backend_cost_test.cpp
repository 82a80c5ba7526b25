// SPDX-License-Identifier: Apache-2.0

#include "support/tensors.hpp"
#include "support/testing.hpp"
#include "unit/attention/attention_cases.hpp"

#include "bigbird/attention/backends.hpp"
#include "bigbird/attention/cpu/fused_kernel.hpp"
#include "bigbird/core/system/processor.hpp"

#include <ATen/Parallel.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <tuple>

using namespace bigbird::attention;
using bigbird::testing::identical;
using bigbird::testing::random_tensor;
using bigbird::testing::stacked_layout;

namespace {

/// A shape that was measured, and nanoseconds (a forward pass, and one with its backward pass, together) by
/// way.
struct Shape {
    bool bf16 = false;
    std::string pattern;
    int block = 0, blocks = 0, head_dim = 0;
    bool operator<(const Shape& other) const {
        return std::tie(bf16, pattern, block, blocks, head_dim) <
               std::tie(other.bf16, other.pattern, other.block, other.blocks, other.head_dim);
    }
};
using Times = std::map<Shape, std::map<std::string, double>>;

/// Adds what attention_bench printed, in float or bfloat16 alone or both.
void read_times(const std::string& name, bool fp32, bool with_bf16, Times& times) {
    std::ifstream file(bigbird::testing::test_data("attention/" + name));
    DOCTEST_REQUIRE(file.good());
    std::string line;
    std::getline(file, line);
    while (std::getline(file, line)) {
        std::istringstream fields(line);
        std::string way, type;
        Shape shape;
        double forward = 0, both = 0, work = 0;
        fields >> way >> type >> shape.pattern >> shape.block >> shape.blocks >> shape.head_dim;
        fields >> work >> work >> forward >> both;
        shape.bf16 = type == "bf16";
        if (shape.bf16 ? with_bf16 : fp32) times[shape][way] = forward + both;
    }
}

/// Measured on an AMD EPYC of the fourth generation; bfloat16 without instructions for it on a Xeon that
/// BIGBIRD_CPU had kept from using its own.
Times measured() {
    Times times;
    read_times("times.tsv", true, bigbird::has_bf16_instructions(), times);
    if (!bigbird::has_bf16_instructions()) {
        const bool avx512 = bigbird::instruction_set() == bigbird::InstructionSet::avx512;
        read_times(avx512 ? "times-avx512-bf16.tsv" : "times-avx2-bf16.tsv", false, true, times);
    }
    return times;
}

LayerLayout layout_of(const Shape& shape) {
    PatternSpec spec = named_pattern(shape.pattern);
    spec.block_size = shape.block;
    spec.window_tokens = 2 * shape.block;  // as attention_bench has it
    return stacked_layout(spec, shape.blocks, 1);
}

}  // namespace

DOCTEST_TEST_CASE("backend_cost: what is chosen is the fastest that was measured, or near it") {
    double sum = 0, compared = 0, clear = 0;
    for (const auto& [shape, times] : measured()) {
        const LayerLayout layout = layout_of(shape);
        std::vector<double> mine;  // a processor may know fewer ways than were measured
        for (const Candidate& candidate : candidates(shape.bf16))
            if (const auto found = times.find(candidate.name(layout.full)); found != times.end())
                mine.push_back(found->second);
        std::ranges::sort(mine);
        const auto chosen =
            times.find(cheapest_candidate(layout, shape.head_dim, shape.bf16).name(layout.full));
        if (chosen == times.end() || mine.size() < 2) continue;  // AMX, which was not measured there
        DOCTEST_CAPTURE(shape.pattern);
        DOCTEST_CAPTURE(shape.block);
        DOCTEST_CAPTURE(shape.blocks);
        DOCTEST_CAPTURE(shape.head_dim);
        DOCTEST_CAPTURE(shape.bf16);
        DOCTEST_CHECK(chosen->second < 2 * mine[0]);
        if (mine[1] > 2 * mine[0]) {
            DOCTEST_CHECK(chosen->second == mine[0]);
            ++clear;
        }
        sum += chosen->second / mine[0];
        ++compared;
    }
    if (!fused_kernels(false).empty()) {
        DOCTEST_CHECK(compared > 100);
        DOCTEST_CHECK(clear > 10);
        DOCTEST_CHECK(sum < 1.1 * compared);
    }
}

DOCTEST_TEST_CASE(
    "backend_cost: every candidate of this processor has rates, and costs more for more tokens") {
    for (const bool bf16 : {false, true}) {
        for (const Candidate& candidate : candidates(bf16)) {
            const double shorter = cost_of(candidate, stacked_layout(PatternSpec{}, 16, 1), 64, bf16),
                         longer = cost_of(candidate, stacked_layout(PatternSpec{}, 32, 1), 64, bf16);
            DOCTEST_CHECK(shorter > 0);
            DOCTEST_CHECK(longer > 1.3 * shorter);
        }
    }
}

DOCTEST_TEST_CASE("backend_cost: small blocks, which kernels pad, go to ATen, the paper's go to a kernel") {
    PatternSpec small, full;
    small.block_size = full.block_size = 4;
    full.full = true;
    for (const bool bf16 : {false, true}) {
        // ATen's bfloat16 is ten times slower than its float where AVX2 is all there is.
        const bool aten = !bf16 || bigbird::instruction_set() != bigbird::InstructionSet::avx2;
        DOCTEST_CHECK((cheapest_candidate(stacked_layout(small, 256, 1), 64, bf16).kernel == nullptr) ==
                      aten);
        if (aten) DOCTEST_CHECK(cheapest_candidate(stacked_layout(full, 256, 1), 64, bf16).kernel == nullptr);
        if (!fused_kernels(bf16).empty()) {
            DOCTEST_CHECK(cheapest_candidate(stacked_layout(PatternSpec{}, 64, 1), 64, bf16).kernel !=
                          nullptr);
        }
    }
}

DOCTEST_TEST_CASE(
    "backend_cost: automatic is the cheapest candidate, byte for byte, with or without a gradient") {
    const int threads = at::get_num_threads();
    for (const int block : {4, 64}) {
        PatternSpec spec;
        spec.block_size = block;
        const LayerLayout layout = stacked_layout(spec, 16, 2);
        const std::vector<std::int64_t> shape{2, 2, 16 * block, 64};
        const at::Tensor q = random_tensor(shape, 1, at::kFloat), k = random_tensor(shape, 2, at::kFloat),
                         v = random_tensor(shape, 3, at::kFloat), mask = at::ones({2, 16 * block}, at::kBool);
        const Candidate candidate = cheapest_candidate(layout, 64, false);
        const at::Tensor wanted = candidate.kernel != nullptr
                                      ? fused_attention(q, k, v, mask, layout, candidate.kernel)
                                      : blocked_attention(q, k, v, mask, layout);
        for (const int count : {1, 2}) {
            at::set_num_threads(count);
            DOCTEST_CHECK(identical(sparse_attention(q, k, v, mask, layout), wanted));
            const at::Tensor learned = q.clone().requires_grad_();
            DOCTEST_CHECK(identical(sparse_attention(learned, k, v, mask, layout).detach(), wanted));
        }
        at::set_num_threads(threads);
    }
}
