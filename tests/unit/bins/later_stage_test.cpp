// SPDX-License-Identifier: Apache-2.0
#include "support/tensors.hpp"
#include "support/testing.hpp"

#include "bigbird/bins/stem.hpp"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/autocast_mode.h>

using namespace bigbird::bins;
using bigbird::testing::difference;
using bigbird::testing::random_tensor;

namespace {

LaterStage stage_of(std::int64_t in, std::int64_t out, std::int64_t width, at::ScalarType type) {
    const auto parameter = [&](at::IntArrayRef sizes, std::uint64_t seed, double scale, double middle) {
        return (scale * random_tensor(sizes, seed) + middle).to(at::kFloat).to(type).requires_grad_();
    };
    return {.norm = parameter({in}, 1, 0.2, 1),
            .norm_bias = parameter({in}, 2, 0.2, 0),
            .epsilon = 1e-5,
            .weight = parameter({out, in, width}, 3, 0.1, 0),
            .bias = parameter({out}, 4, 0.2, 0)};
}

/// The result, and the gradients of x and of the four parameters.
template <typename Compute>
std::vector<at::Tensor> all_of(const Compute& compute, const at::Tensor& values, const LaterStage& stage) {
    const at::Tensor x = values.detach().clone().requires_grad_();
    const at::Tensor y = compute(x, stage);
    (y * at::cos(at::arange(y.numel(), y.options())).view(y.sizes())).sum().backward();
    return {y.detach(),          x.grad(),         stage.norm.grad(), stage.norm_bias.grad(),
            stage.weight.grad(), stage.bias.grad()};
}

}  // namespace

DOCTEST_TEST_CASE("later stage: values and gradients are those of the slow twin") {
    struct Shape {
        std::int64_t batch, length, in, out, width;
    };
    // Whole blocks, a length that ends within a block and a tile, one below a tile; and what the kernel
    // leaves to LibTorch.
    for (const Shape& shape : {Shape{2, 320, 64, 64, 5}, Shape{3, 333, 32, 96, 5}, Shape{1, 3, 64, 32, 5},
                               Shape{2, 40, 64, 64, 3}, Shape{2, 40, 12, 20, 5}}) {
        const at::Tensor x = (2 * random_tensor({shape.batch, shape.length, shape.in}, 5)).to(at::kFloat);
        const auto fast = all_of(later_stage, x, stage_of(shape.in, shape.out, shape.width, at::kFloat)),
                   slow = all_of(later_stage_reference, x.to(at::kDouble),
                                 stage_of(shape.in, shape.out, shape.width, at::kDouble));
        for (std::size_t i = 0; i < fast.size(); ++i) {
            DOCTEST_CAPTURE(i);
            DOCTEST_CHECK(difference(fast[i], slow[i]) < 1e-5 + 1e-5 * slow[i].abs().max().item<double>());
        }
        const at::NoGradGuard no_gradients;
        DOCTEST_CHECK(
            at::equal(later_stage(x, stage_of(shape.in, shape.out, shape.width, at::kFloat)), fast[0]));
    }
}

DOCTEST_TEST_CASE(
    "later stage: a window's bits depend on no other window, and sums on no number of threads") {
    const at::Tensor x = random_tensor({5, 400, 64}, 5, at::kFloat);
    const int threads = at::get_num_threads();
    at::set_num_threads(1);
    const auto one = all_of(later_stage, x, stage_of(64, 64, 5, at::kFloat));
    at::set_num_threads(3);
    const auto three = all_of(later_stage, x, stage_of(64, 64, 5, at::kFloat));
    at::set_num_threads(threads);
    for (std::size_t i = 0; i < one.size(); ++i)
        DOCTEST_CHECK(at::equal(one[i], three[i]));
    const at::Tensor last = later_stage(x.narrow(0, 4, 1), stage_of(64, 64, 5, at::kFloat));
    DOCTEST_CHECK(at::equal(last, one[0].narrow(0, 4, 1)));
}

DOCTEST_TEST_CASE("later stage: computes in float32 under autocast too") {
    const at::Tensor x = random_tensor({1, 40, 64}, 5, at::kFloat);
    const auto plain = all_of(later_stage, x, stage_of(64, 64, 5, at::kFloat));
    at::autocast::set_autocast_enabled(at::kCPU, true);
    const auto cast = all_of(later_stage, x, stage_of(64, 64, 5, at::kFloat));
    at::autocast::set_autocast_enabled(at::kCPU, false);
    for (std::size_t i = 0; i < plain.size(); ++i)
        DOCTEST_CHECK(at::equal(plain[i], cast[i]));
}
