// SPDX-License-Identifier: Apache-2.0
// The oracle itself, against a plain loop over queries and keys.
#include "bigbird/attention/attention.hpp"

#include "support/tensors.hpp"
#include "support/testing.hpp"
#include "unit/attention/attention_cases.hpp"

#include "bigbird/attention/backends.hpp"
#include "bigbird/attention/layer_layout.hpp"
#include "bigbird/core/error.hpp"

#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>

#include <array>
#include <cmath>
#include <thread>

using namespace bigbird::attention;
using namespace bigbird::testing;

namespace {

/// One attention by a backend; the tensors belong to the mode in which this is called.
at::Tensor attended(Backend backend, const PatternSpec& spec, at::ScalarType type) {
    const std::int64_t length = std::int64_t{12} * spec.block_size;
    const LayerLayout layout = stacked_layout(spec, 12, 3);
    const auto tensor = [&](std::uint64_t seed) { return random_tensor({2, 3, length, 16}, seed).to(type); };
    at::Tensor mask = at::ones({2, length}, at::kBool);
    mask[1].narrow(0, length - 5, 5).fill_(false);
    return sparse_attention(tensor(1), tensor(2), tensor(3), mask, layout, backend);
}

/// What `compute` returns on a thread of its own.
template <typename Compute>
at::Tensor elsewhere(const Compute& compute) {
    at::Tensor result;
    std::thread([&] { result = compute(); }).join();
    return result;
}

}  // namespace

DOCTEST_TEST_CASE("attention: backends are chosen by name") {
    int number = 0;
    for (const char* name : {"automatic", "reference", "blocked", "fused", "fused-hopper"})
        DOCTEST_CHECK(static_cast<int>(backend_from_name(name)) == number++);
    const std::string message = message_of<bigbird::ConfigError>([] { backend_from_name("fast"); });
    DOCTEST_CHECK(message ==
                  "no attention backend is named 'fast': choose automatic, reference, blocked, fused or "
                  "fused-hopper");
}

DOCTEST_TEST_CASE("attention: Hopper's kernels are refused without a GPU") {
    const LayerLayout layout = stack_layouts({make_layout(PatternSpec{}, 12, 0, 0)}, 64, at::kCPU);
    const at::Tensor x = at::zeros({1, 1, 768, 8}), mask = at::ones({1, 768}, at::kBool);
    const std::string message = message_of<bigbird::ConfigError>(
        [&] { sparse_attention(x, x, x, mask, layout, Backend::fused_hopper); });
    DOCTEST_CHECK(message.find("fused-hopper is for GPUs") != std::string::npos);
}

DOCTEST_TEST_CASE("attention: shapes that do not fit the layout are a programmer's mistake") {
    const LayerLayout layout = stack_layouts({make_layout(PatternSpec{}, 12, 0, 0)}, 64, at::kCPU);
    const at::Tensor x = at::zeros({1, 1, 64, 8}), mask = at::ones({1, 64}, at::kBool);
    DOCTEST_CHECK_THROWS_AS(sparse_attention(x, x, x, mask, layout), std::logic_error);
}

DOCTEST_TEST_CASE("attention: every backend computes in inference mode and on a thread of the caller's own") {
    PatternSpec small, full, masked;
    small.block_size = full.block_size = masked.block_size = 16;
    full.full = true;
    masked.kind = PatternKind::longformer;
    masked.window_tokens = 20;
    for (const at::ScalarType type : {at::kFloat, at::kBFloat16}) {
        for (const Backend backend :
             {Backend::automatic, Backend::reference, Backend::blocked, Backend::fused}) {
            if (backend == Backend::fused && !can_fuse(at::empty({1}, type))) continue;
            for (const PatternSpec& spec : {small, full, masked}) {
                const auto compute = [&] { return attended(backend, spec, type); };
                const auto infer = [&] {
                    const c10::InferenceMode inference;
                    return compute().clone();
                };
                const at::Tensor wanted = compute();
                DOCTEST_CHECK(identical(infer(), wanted));
                DOCTEST_CHECK(identical(elsewhere(compute), wanted));
                DOCTEST_CHECK(identical(elsewhere(infer), wanted));
            }
        }
    }
}

namespace {

/// Attention of one head and query, key by key; duplicates are really added several times.
std::vector<double> attend(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                           const std::vector<std::int64_t>& keys) {
    std::vector<double> weights, context(static_cast<std::size_t>(v.size(1)), 0.0);
    double sum = 0;
    for (const std::int64_t key : keys) {
        weights.push_back(
            std::exp((q * k[key]).sum().item<double>() / std::sqrt(static_cast<double>(q.size(0)))));
        sum += weights.back();
    }
    for (std::size_t i = 0; i < keys.size(); ++i)
        for (std::int64_t d = 0; d < v.size(1); ++d)
            context[static_cast<std::size_t>(d)] += weights[i] / sum * v[keys[i]][d].item<double>();
    return context;
}

}  // namespace

DOCTEST_TEST_CASE("reference_attention: equals a loop over keys in which duplicates stand several times") {
    PatternSpec spec;
    spec.block_size = 2;
    spec.random_blocks = 1;
    for (const RandomSource source : {RandomSource::uniform, RandomSource::hf}) {
        spec.random_source = source;
        const int blocks = 9, length = 18;
        const LayerLayout layout = stacked_layout(spec, blocks, 2);
        const at::Tensor q = random_tensor({1, 2, length, 4}, 1), k = random_tensor({1, 2, length, 4}, 2),
                         v = random_tensor({1, 2, length, 4}, 3);
        at::Tensor mask = at::ones({1, length}, at::kBool);
        mask[0][length - 1] = false;
        const at::Tensor out = sparse_attention(q, k, v, mask, layout, Backend::reference);
        for (std::int64_t head = 0; head < 2; ++head) {
            const BlockLayout& of_head = (*layout.layouts)[static_cast<std::size_t>(head)];
            for (std::int64_t query = 0; query < length; ++query) {
                std::vector<std::int64_t> keys;
                for (const std::size_t i : of_head.entries(query / 2)) {
                    for (int times = 0; times < of_head.multiplicity[i]; ++times)
                        for (std::int64_t key = of_head.columns[i] * 2;
                             key < of_head.columns[i] * 2 + 2 && key < length - 1; ++key)
                            keys.push_back(key);
                }
                std::vector<double> expected(4, 0.0);  // a padded query gives 0
                if (query < length - 1) expected = attend(q[0][head][query], k[0][head], v[0][head], keys);
                DOCTEST_CHECK(difference(out[0][head][query], at::tensor(expected, at::kDouble)) < 1e-13);
            }
        }
    }
}

DOCTEST_TEST_CASE(
    "full_attention: equals the reference, forward and backward, with padding and with dropped "
    "probabilities") {
    PatternSpec spec;
    spec.block_size = 16;
    const LayerLayout layout = stacked_layout(spec, 3, 2);
    DOCTEST_REQUIRE(layout.full);
    at::Tensor mask = at::ones({2, 48}, at::kBool);
    mask[1].slice(0, 20).fill_(false);
    for (const bool with_dropout : {false, true}) {
        const at::Tensor factors =
            with_dropout ? (random_tensor({2, 2, 48, 48}, 9) > 0).to(at::kDouble) * 2 : at::Tensor();
        std::vector<std::vector<at::Tensor>> results;
        for (const Backend backend : {Backend::automatic, Backend::reference}) {
            std::vector<at::Tensor> leaves;
            for (const std::uint64_t seed : {1U, 2U, 3U})
                leaves.push_back(random_tensor({2, 2, 48, 8}, seed).requires_grad_());
            const at::Tensor out =
                sparse_attention(leaves[0], leaves[1], leaves[2], mask, layout, backend, factors);
            (out * random_tensor({2, 2, 48, 8}, 4)).sum().backward();
            results.push_back({out.detach(), leaves[0].grad(), leaves[1].grad(), leaves[2].grad()});
        }
        for (std::size_t i = 0; i < 4; ++i)
            DOCTEST_CHECK(difference(results[0][i], results[1][i]) < 1e-12);
        // Padded queries are computed like others.
        DOCTEST_CHECK(results[0][0][1][0][40].abs().sum().item<double>() > 0);
    }
}

DOCTEST_TEST_CASE("layer_layout: the cache makes each layout once") {
    LayoutCache cache(PatternSpec{}, 2);
    const auto first = cache.get(16, 0, at::kCPU);
    DOCTEST_CHECK(first == cache.get(16, 0, at::kCPU));
    DOCTEST_CHECK(first != cache.get(16, 1, at::kCPU));
    DOCTEST_CHECK(cache.get(11, 0, at::kCPU)->full);
}

namespace {

AttentionResults run(const AttentionCase& c, const LayerLayout& layout, Backend backend,
                     at::ScalarType type = at::kDouble) {
    return bigbird::testing::run(
        c, type, type,
        [&](const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& mask) {
            return sparse_attention(q, k, v, mask, layout, backend);
        });
}

const std::array<AttentionCase, 7> cases{
    {{12, 4, 2, 2, 8, 3, RandomSource::uniform, 3},
     {13, 16, 3, 1, 16, 3, RandomSource::uniform, 0},
     {16, 8, 2, 2, 4, 3, RandomSource::hf, 9},
     {20, 4, 2, 3, 8, 2, RandomSource::uniform, 17, false, GlobalPlacement::first},
     {8, 4, 1, 2, 4, 0, RandomSource::uniform, 5},
     {14, 64, 2, 1, 64, 3, RandomSource::uniform, 70},
     {7, 4, 2, 2, 8, 0, RandomSource::hf, 6}}};

}  // namespace

DOCTEST_TEST_CASE("blocked_attention: equals the reference, forward and backward, in fp64") {
    for (const AttentionCase& c : cases) {
        DOCTEST_CAPTURE(c.blocks);
        const LayerLayout layout = layout_of(c);
        DOCTEST_REQUIRE(!layout.full);
        check_near(run(c, layout, Backend::blocked), run(c, layout, Backend::reference), 1e-12);
    }
}

DOCTEST_TEST_CASE("blocked_attention: gradients are the derivatives, by finite differences in fp64") {
    const AttentionCase c{8, 2, 2, 2, 3, 0, RandomSource::uniform, 3};
    const LayerLayout layout = layout_of(c);
    at::Tensor mask = at::ones({2, 16}, at::kBool);
    mask[1].slice(0, 13).fill_(false);
    std::vector<at::Tensor> x;
    for (const std::uint64_t seed : {1U, 2U, 3U})
        x.push_back(random_tensor({2, 2, 16, 3}, seed));
    const at::Tensor weights = random_tensor({2, 2, 16, 3}, 4);
    check_gradients(x, 7, 1e-6, [&] {
        return (sparse_attention(x[0], x[1], x[2], mask, layout, Backend::blocked) * weights).sum();
    });
}

DOCTEST_TEST_CASE("blocked_attention: the same bytes for any number of threads, fp32 near the reference") {
    const AttentionCase& c = cases[5];
    const LayerLayout layout = layout_of(c);
    const int threads = at::get_num_threads();
    std::vector<AttentionResults> results;
    for (const int count : {1, 2, 3}) {
        at::set_num_threads(count);
        results.push_back(run(c, layout, Backend::blocked, at::kFloat));
    }
    at::set_num_threads(threads);
    DOCTEST_CHECK(identical(results[0], results[1]));
    DOCTEST_CHECK(identical(results[0], results[2]));
    check_near(results[0], run(c, layout, Backend::reference), 1e-4);
}
