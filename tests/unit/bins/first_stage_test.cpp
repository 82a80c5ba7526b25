// SPDX-License-Identifier: Apache-2.0
#include "support/tensors.hpp"
#include "support/testing.hpp"

#include "bigbird/bins/stem.hpp"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

using namespace bigbird::bins;
using bigbird::testing::difference;
using bigbird::testing::random_tensor;

namespace {

struct Shape {
    std::int64_t channels, width, pool, motif_filters, bin;
    bool both_strands;
};

FirstStage stage_of(const Shape& shape, at::ScalarType type) {
    const auto parameter = [&](at::IntArrayRef sizes, std::uint64_t seed, double scale) {
        return (scale * random_tensor(sizes, seed)).to(at::kFloat).to(type).requires_grad_();
    };
    return {.weight = parameter({shape.channels, 4, shape.width}, 1, 0.4),
            .bias = parameter({shape.channels}, 2, 0.3),
            .sharpness = parameter({shape.channels}, 3, 2),
            .pool = shape.pool,
            .both_strands = shape.both_strands,
            .motif_filters = shape.motif_filters,
            .bin = shape.bin};
}

/// Random bases, among them a bin of N and one that repeats a word, where many places find the same.
at::Tensor some_bases(std::int64_t windows, std::int64_t length) {
    at::Tensor bases = random_tensor({windows, length}, 4).mul(1000).to(at::kLong).abs().remainder(4);
    bases[0].narrow(0, length / 4, length / 8).fill_(4);
    bases[0].narrow(0, length / 2, length / 4).copy_(at::arange(length / 4, at::kLong).remainder(2));
    return bases.to(at::kByte);
}

/// Positions, sites, and the gradients of the three parameters.
template <typename Compute>
std::vector<at::Tensor> all_of(const Compute& compute, const at::Tensor& bases, const FirstStage& stage) {
    const StemOutput out = compute(bases, stage);
    const auto weighed = [](const at::Tensor& x) {
        return (x * at::cos(at::arange(x.numel(), x.options())).view(x.sizes())).sum();
    };
    at::Tensor loss = weighed(out.positions);
    if (out.sites.defined()) loss = loss + weighed(out.sites);
    loss.backward();
    return {out.positions.detach(), out.sites.defined() ? out.sites.detach() : at::zeros({0}),
            stage.weight.grad(), stage.bias.grad(), stage.sharpness.grad()};
}

}  // namespace

DOCTEST_TEST_CASE("first stage: in parts, of windows and within a window, it is the same") {
    for (const Shape& shape : {Shape{8, 21, 4, 6, 8, true}, Shape{5, 7, 5, 0, 20, false}}) {
        const at::Tensor bases = some_bases(5, 8 * shape.bin);
        const std::int64_t window = bases.size(1) * shape.channels * (shape.both_strands ? 2 : 1);
        const auto whole = all_of(first_stage_reference, bases, stage_of(shape, at::kDouble));
        for (const std::int64_t most : {2 * window, window / 3, std::int64_t{1}}) {
            const auto parts =
                all_of([&](const at::Tensor& some,
                           const FirstStage& stage) { return first_stage_in_parts(some, stage, most); },
                       bases, stage_of(shape, at::kDouble));
            for (std::size_t i = 0; i < parts.size(); ++i) {
                DOCTEST_CAPTURE(most);
                DOCTEST_CAPTURE(i);
                DOCTEST_CHECK(difference(parts[i], whole[i]) < 1e-12);
            }
        }
    }
}

DOCTEST_TEST_CASE("first stage: values and gradients are those of the slow twin") {
    for (const Shape& shape :
         {Shape{32, 21, 4, 16, 200, true}, Shape{20, 7, 5, 0, 20, true}, Shape{20, 5, 10, 18, 20, true},
          Shape{20, 9, 4, 20, 40, false}, Shape{3, 1, 1, 3, 8, false}, Shape{4, 3, 32, 2, 32, true}}) {
        const at::Tensor bases = some_bases(3, 8 * shape.bin);
        const auto fast = all_of(first_stage, bases, stage_of(shape, at::kFloat)),
                   slow = all_of(first_stage_reference, bases, stage_of(shape, at::kDouble));
        for (std::size_t i = 0; i < fast.size(); ++i) {
            DOCTEST_CAPTURE(i);
            const double size = slow[i].numel() > 0 ? slow[i].abs().max().item<double>() : 0;
            DOCTEST_CHECK(difference(fast[i], slow[i]) < 1e-5 + 1e-5 * size);
        }
        const at::NoGradGuard no_gradients;
        const StemOutput again = first_stage(bases, stage_of(shape, at::kFloat));
        DOCTEST_CHECK(at::equal(again.positions, fast[0]));
        DOCTEST_CHECK(again.sites.defined() == (shape.motif_filters > 0));
    }
}

DOCTEST_TEST_CASE(
    "first stage: a window's bits depend on no other window, and sums on no number of threads") {
    const Shape shape{128, 21, 4, 48, 200, true};
    const at::Tensor bases = some_bases(5, 1600);
    const int threads = at::get_num_threads();
    at::set_num_threads(1);
    const auto one = all_of(first_stage, bases, stage_of(shape, at::kFloat));
    at::set_num_threads(3);
    const auto three = all_of(first_stage, bases, stage_of(shape, at::kFloat));
    at::set_num_threads(threads);
    for (std::size_t i = 0; i < one.size(); ++i)
        DOCTEST_CHECK(at::equal(one[i], three[i]));
    const StemOutput last = first_stage(bases.narrow(0, 4, 1), stage_of(shape, at::kFloat));
    DOCTEST_CHECK(at::equal(last.positions, one[0].narrow(0, 4, 1)));
    DOCTEST_CHECK(at::equal(last.sites, one[1].narrow(0, 4, 1)));
}
