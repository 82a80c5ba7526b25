// SPDX-License-Identifier: Apache-2.0
// Times every way to compute attention on this processor, one thread, over many shapes, for
// scripts/checks/fit_attention_costs.py:
//   attention_bench fp32|bf16 > FILE.tsv
// A row a way and shape: way, type, pattern, block, blocks, head_dim, work (backends.hpp), then
// nanoseconds a head of the forward pass and of both passes.
#include "bigbird/attention/backends.hpp"
#include "bigbird/core/system/processor.hpp"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>
#include <string>

namespace {

using namespace bigbird::attention;

constexpr int heads = 2;

struct Shape {
    std::string pattern;
    int block, blocks, head_dim;
};

PatternSpec spec_of(const Shape& shape) {
    PatternSpec spec = named_pattern(shape.pattern);
    spec.block_size = shape.block;
    spec.window_tokens = 2 * shape.block;
    return spec;
}

LayerLayout layout_of(const Shape& shape) {
    std::vector<BlockLayout> layouts;
    for (int head = 0; head < heads; ++head)
        layouts.push_back(make_layout(spec_of(shape), shape.blocks, 0, head));
    return stack_layouts(std::move(layouts), shape.block, at::kCPU);
}

/// The fastest of the passes that fit in about 30 ms (two at least).
template <typename Pass>
double nanoseconds(Pass&& pass) {
    using Clock = std::chrono::steady_clock;
    pass();
    double best = std::numeric_limits<double>::infinity();
    const auto start = Clock::now();
    for (int i = 0; i < 2 || Clock::now() - start < std::chrono::milliseconds(30); ++i) {
        const auto begin = Clock::now();
        pass();
        best = std::min(best, std::chrono::duration<double, std::nano>(Clock::now() - begin).count());
    }
    return best / heads;
}

void measure(const Shape& shape, at::ScalarType type) {
    const LayerLayout layout = layout_of(shape);
    const std::int64_t length = std::int64_t{shape.block} * shape.blocks;
    const auto make = [&] {
        return at::randn({1, length, heads, shape.head_dim}, at::kFloat).to(type).transpose(1, 2);
    };
    const at::Tensor mask = at::ones({1, length}, at::kBool), slope = make();
    for (const Candidate& candidate : candidates(type == at::kBFloat16)) {
        at::Tensor q = make(), k = make(), v = make();
        const auto attend = [&] {
            if (candidate.kernel != nullptr) return fused_attention(q, k, v, mask, layout, candidate.kernel);
            return layout.full ? full_attention(q, k, v, mask, {}) : blocked_attention(q, k, v, mask, layout);
        };
        double forward = 0;
        {
            const at::NoGradGuard no_gradient;
            forward = nanoseconds(attend);
        }
        for (at::Tensor* x : {&q, &k, &v})
            x->requires_grad_();
        const double both = nanoseconds([&] { attend().backward(slope); });
        std::printf("%s\t%s\t%s\t%d\t%d\t%d", candidate.name(layout.full).c_str(),
                    type == at::kBFloat16 ? "bf16" : "fp32", shape.pattern.c_str(), shape.block, shape.blocks,
                    shape.head_dim);
        const Work work = work_of(candidate, layout, shape.head_dim);
        std::printf("\t%.0f\t%.0f\t%.0f\t%.0f\n", work.products, work.steps, forward, both);
        std::fflush(stdout);
    }
}

}  // namespace

int main(int argc, char** argv) {
    bigbird::limit_libraries();
    const std::string type = argc == 2 ? argv[1] : "";
    if (type != "fp32" && type != "bf16") {
        std::fputs("attention_bench fp32|bf16\n", stderr);
        return 2;
    }
    at::set_num_threads(1);
    std::puts("way\ttype\tpattern\tblock\tblocks\thead_dim\tproducts\tsteps\tforward_ns\tboth_ns");
    for (const std::string pattern : {"bigbird", "window", "full", "sliding"}) {
        for (const int block : {4, 8, 16, 32, 64, 84, 128}) {
            for (const int length : {block < 16 ? 384 : 768, block < 16 ? 1024 : 2304}) {
                for (const int head_dim : {16, 64}) {
                    measure({pattern, block, length / block, head_dim},
                            type == "bf16" ? at::kBFloat16 : at::kFloat);
                }
            }
        }
    }
    return 0;
}
