// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/layers/linear_cross_entropy.hpp"

#include "support/testing.hpp"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

using namespace bigbird::model;

namespace {

at::Tensor numbers(at::IntArrayRef sizes, std::uint64_t seed) {
    return at::randn(sizes, at::make_generator<at::CPUGeneratorImpl>(seed),
                     at::TensorOptions().dtype(at::kDouble))
        .to(at::kFloat);
}

}  // namespace

DOCTEST_TEST_CASE("linear_cross_entropy: loss, hits and gradients are those of LibTorch's own functions") {
    const at::Tensor labels = at::arange(13, at::kLong).remainder(7);
    at::Tensor hidden = numbers({13, 5}, 1).requires_grad_(), weight = numbers({7, 5}, 2).requires_grad_(),
               bias = numbers({7}, 3).requires_grad_();
    const at::Tensor logits = at::linear(hidden, weight, bias);
    const at::Tensor nats = at::cross_entropy_loss(logits, labels, {}, at::Reduction::Sum);
    (0.25 * nats).backward();
    const std::vector<at::Tensor> wanted{hidden.grad().clone(), weight.grad().clone(), bias.grad().clone()};
    for (const std::int64_t chunk : {0, 1, 4, 13, 100}) {
        for (at::Tensor* tensor : {&hidden, &weight, &bias})
            tensor->mutable_grad().reset();
        const LinearCrossEntropy out = linear_cross_entropy(hidden, weight, bias, labels, {}, chunk);
        DOCTEST_CHECK(out.nats.item<double>() == doctest::Approx(nats.item<double>()).epsilon(1e-6));
        DOCTEST_CHECK(out.correct.item<std::int64_t>() ==
                      logits.argmax(1).eq(labels).sum().item<std::int64_t>());
        (0.25 * out.nats).backward();
        DOCTEST_CHECK(at::allclose(hidden.grad(), wanted[0], 1e-5, 1e-6));
        DOCTEST_CHECK(at::allclose(weight.grad(), wanted[1], 1e-5, 1e-6));
        DOCTEST_CHECK(at::allclose(bias.grad(), wanted[2], 1e-5, 1e-6));
    }
    const at::NoGradGuard no_gradients;
    DOCTEST_CHECK(linear_cross_entropy(hidden, weight, bias, labels).nats.item<double>() ==
                  doctest::Approx(nats.item<double>()).epsilon(1e-6));
}

DOCTEST_TEST_CASE("linear_cross_entropy: rows count by their weights") {
    const at::Tensor labels = at::arange(13, at::kLong).remainder(7);
    const at::Tensor weights = at::arange(13, at::kFloat) / 4;
    at::Tensor hidden = numbers({13, 5}, 1).requires_grad_(), weight = numbers({7, 5}, 2).requires_grad_(),
               bias = numbers({7}, 3).requires_grad_();
    const at::Tensor row_nats =
        at::cross_entropy_loss(at::linear(hidden, weight, bias), labels, {}, at::Reduction::None);
    (weights * row_nats).sum().backward();
    const std::vector<at::Tensor> wanted{hidden.grad().clone(), weight.grad().clone(), bias.grad().clone()};
    for (at::Tensor* tensor : {&hidden, &weight, &bias})
        tensor->mutable_grad().reset();
    const LinearCrossEntropy out = linear_cross_entropy(hidden, weight, bias, labels, weights, 4);
    DOCTEST_CHECK(out.nats.item<double>() == doctest::Approx((weights * row_nats).sum().item<double>()));
    DOCTEST_CHECK(at::allclose(out.row_nats, row_nats));
    out.nats.backward();
    DOCTEST_CHECK(at::allclose(hidden.grad(), wanted[0], 1e-5, 1e-6));
    DOCTEST_CHECK(at::allclose(weight.grad(), wanted[1], 1e-5, 1e-6));
    DOCTEST_CHECK(at::allclose(bias.grad(), wanted[2], 1e-5, 1e-6));
}

DOCTEST_TEST_CASE("linear_cross_entropy: no rows cost nothing") {
    const at::Tensor hidden = at::zeros({0, 5}).requires_grad_();
    const LinearCrossEntropy out =
        linear_cross_entropy(hidden, numbers({7, 5}, 2), at::zeros({7}), at::zeros({0}, at::kLong));
    DOCTEST_CHECK(out.nats.item<double>() == 0);
    DOCTEST_CHECK(out.correct.item<std::int64_t>() == 0);
}
