// SPDX-License-Identifier: Apache-2.0
// What one attention costs at one length, in a process of its own, for scripts/measure/attention-cost:
//   attention_cost_bench WAY LENGTH
// Two heads of 64 features, one sample, fp32, one thread. Prints a row: way, length, milliseconds of
// processor time of the forward pass and of both passes, and by how many bytes the process grew at most in
// both, inputs and gradients included. The ways: `names` below.
#include "bigbird/attention/backends.hpp"
#include "bigbird/attention/feature_attention.hpp"
#include "bigbird/attention/window_attention.hpp"
#include "bigbird/core/system/processor.hpp"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <malloc.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <string>

namespace {

using namespace bigbird::attention;

constexpr std::int64_t heads = 2, head_dim = 64;
constexpr int each_side = 256;  // of a Longformer's window

struct Inputs {
    at::Tensor q, k, v;
};
using Pass = std::function<at::Tensor(const Inputs&)>;

at::Tensor all_real(const at::Tensor& q) {
    return at::ones({1, q.size(2)}, at::kBool);
}

/// Every score at once, kept for the backward pass.
at::Tensor dense(const Inputs& x) {
    const at::Tensor scores = at::matmul(x.q, x.k.transpose(2, 3)) / std::sqrt(double{head_dim});
    return at::matmul(at::softmax(scores, -1), x.v);
}

/// Longformer's loop: a product of all queries with the keys a fixed distance away, distance by distance.
at::Tensor loop(const Inputs& x) {
    const std::int64_t length = x.q.size(2);
    const at::Tensor keys = at::constant_pad_nd(x.k, {0, 0, each_side, each_side}),
                     values = at::constant_pad_nd(x.v, {0, 0, each_side, each_side});
    std::vector<at::Tensor> scores;
    for (std::int64_t shift = 0; shift <= 2 * each_side; ++shift)
        scores.push_back((x.q * keys.narrow(2, shift, length)).sum(-1));
    const at::Tensor places = at::arange(length).unsqueeze(1) + at::arange(2 * each_side + 1).unsqueeze(0);
    const at::Tensor outside = places.lt(each_side).logical_or(places.ge(length + each_side));
    const at::Tensor weights =
        at::softmax((at::stack(scores, -1) / std::sqrt(double{head_dim})).masked_fill(outside, -1e9), -1);
    at::Tensor sum = at::zeros_like(x.v);
    for (std::int64_t shift = 0; shift <= 2 * each_side; ++shift)
        sum = sum + weights.narrow(3, shift, 1) * values.narrow(2, shift, length);
    return sum;
}

/// A window and one global token in front, which attends all by projections of its own (here the same).
Pass longformer(Backend backend, std::int64_t length) {
    PatternSpec window;
    window.kind = PatternKind::longformer;
    window.window_tokens = each_side;
    const auto layouts = std::make_shared<WindowLayouts>(
        std::vector<std::vector<PatternSpec>>{{static_cast<std::size_t>(heads), window}});
    layouts->get(static_cast<int>(length / window.block_size), 1, 0, at::kCPU);
    return [layouts, backend](const Inputs& x) {
        const at::Tensor mask = all_real(x.q);
        const GlobalTokens tokens = leading_global_tokens(1, mask);
        const auto layout = layouts->get(static_cast<int>(x.q.size(2) / 64), 1, 0, at::kCPU);
        const at::Tensor local = window_attention(x.q, x.k, x.v, tokens, *layout, backend);
        return with_global_rows(local, x.q.narrow(2, 0, 1), x.k, x.v, mask, tokens);
    };
}

/// A pattern of blocks by name, over so many rows in front and the sequence, filled up to whole blocks.
Pass blocks(const std::string& name, std::int64_t length) {
    const PatternSpec spec = named_pattern(name);
    const std::int64_t front = name == "bigbird-etc" ? std::int64_t{spec.global_blocks} * spec.block_size : 0,
                       count = (front + length + spec.block_size - 1) / spec.block_size;
    std::vector<BlockLayout> of_heads;
    for (int head = 0; head < heads; ++head)
        of_heads.push_back(make_layout(spec, static_cast<int>(count), 0, head));
    const auto layout =
        std::make_shared<LayerLayout>(stack_layouts(std::move(of_heads), spec.block_size, at::kCPU));
    return [layout, front, count, spec](const Inputs& x) {
        const std::int64_t behind = count * spec.block_size - front - x.q.size(2);
        const auto filled = [&](const at::Tensor& y) {
            return at::constant_pad_nd(y, {0, 0, front, behind});
        };
        const at::Tensor q = filled(x.q);
        return sparse_attention(q, filled(x.k), filled(x.v), all_real(q), *layout)
            .narrow(2, front, x.q.size(2));
    };
}

Pass performer() {
    const std::vector<double> rows = draw_features(FeatureSpec{}, 0, head_dim);
    const at::Tensor features = at::tensor(at::ArrayRef<double>(rows)).view({-1, head_dim});
    return [features](const Inputs& x) {
        return feature_attention(x.q, x.k, x.v, all_real(x.q), features, FeatureKernel::softmax);
    };
}

const std::map<std::string, std::function<Pass(std::int64_t)>> names{
    {"full-scores", [](std::int64_t) { return Pass(dense); }},
    {"full",
     [](std::int64_t) {
         return Pass([](const Inputs& x) { return full_attention(x.q, x.k, x.v, all_real(x.q), {}); });
     }},
    {"longformer-loop", [](std::int64_t) { return Pass(loop); }},
    {"longformer-chunks", [](std::int64_t length) { return longformer(Backend::blocked, length); }},
    {"longformer-fused", [](std::int64_t length) { return longformer(Backend::fused, length); }},
    {"bigbird-itc", [](std::int64_t length) { return blocks("bigbird", length); }},
    {"bigbird-etc", [](std::int64_t length) { return blocks("bigbird-etc", length); }},
    {"performer", [](std::int64_t) { return performer(); }},
    {"values", [](std::int64_t) { return Pass([](const Inputs& x) { return x.v * 1.0; }); }},
};

Inputs inputs(std::int64_t length) {
    const auto make = [&] {
        return at::randn({1, length, heads, head_dim}).transpose(1, 2).requires_grad_();
    };
    return {make(), make(), make()};
}

/// Of /proc/self/status, in bytes.
double memory(const std::string& key) {
    std::ifstream status("/proc/self/status");
    std::string word;
    double kilobytes = 0;
    while (status >> word && word != key + ":") {
    }
    status >> kilobytes;
    return 1024 * kilobytes;
}

double milliseconds(const std::function<void()>& pass) {
    const std::clock_t begin = std::clock();
    pass();
    return 1e3 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

/// The fastest of the passes that fit in about half a second; one at least.
double best_of(const std::function<void()>& pass) {
    double best = std::numeric_limits<double>::infinity(), spent = 0;
    while (spent < 500) {
        const double found = milliseconds(pass);
        best = std::min(best, found);
        spent += std::max(found, 0.01);
    }
    return best;
}

void measure(const std::string& way, std::int64_t length) {
    constexpr std::int64_t warm = 128;
    const auto both = [](const Pass& attend, const Inputs& x) { attend(x).sum().backward(); };
    both(names.at(way)(warm), inputs(warm));  // what is made once a process
    const Pass attend = names.at(way)(length);
    malloc_trim(0);
    const double before = memory("VmRSS");
    std::ofstream("/proc/self/clear_refs") << "5";  // the peak begins again
    const Inputs x = inputs(length);
    both(attend, x);
    const double grown = memory("VmHWM") - before;
    const double of_both = best_of([&] { both(attend, x); });
    const at::NoGradGuard no_gradient;
    const double forward = best_of([&] { attend(x); });
    std::printf("%s\t%lld\t%.4g\t%.4g\t%.0f\n", way.c_str(), static_cast<long long>(length), forward, of_both,
                std::max(grown, 0.0));
}

}  // namespace

int main(int argc, char** argv) {
    bigbird::limit_libraries();
    std::int64_t length = 0;
    const std::string way = argc == 3 ? argv[1] : "", number = argc == 3 ? argv[2] : "";
    std::from_chars(number.data(), number.data() + number.size(), length);
    if (!names.contains(way) || length < 64 || length % 64 != 0) {
        std::fputs("attention_cost_bench WAY LENGTH; LENGTH is a multiple of 64, WAY one of", stderr);
        for (const auto& item : names)
            std::fprintf(stderr, " %s", item.first.c_str());
        std::fputs("\n", stderr);
        return 2;
    }
    at::set_num_threads(1);
    measure(way, length);
    return 0;
}
