// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/layers/linear_cross_entropy.hpp"

#include "support/emulated_kernels.hpp"
#include "support/testing.hpp"
#include "unit/model/layers/cuda_elementwise_cases.hpp"

#include "bigbird/attention/cuda/host/kernel_library.hpp"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

using namespace bigbird::model;
using namespace bigbird;
using bigbird::testing::LossInputs;
using bigbird::testing::Results;
using model::SoftmaxLoss;

namespace {

at::Tensor numbers(at::IntArrayRef sizes, std::uint64_t seed) {
    return at::randn(sizes, at::make_generator<at::CPUGeneratorImpl>(seed),
                     at::TensorOptions().dtype(at::kDouble))
        .to(at::kFloat);
}

}  // namespace

DOCTEST_TEST_CASE(
    "linear_cross_entropy: loss, hits and gradients are those of LibTorch, rows by their weights") {
    const at::Tensor labels = at::arange(13, at::kLong).remainder(7);
    at::Tensor hidden = numbers({13, 5}, 1).requires_grad_(), weight = numbers({7, 5}, 2).requires_grad_(),
               bias = numbers({7}, 3).requires_grad_();
    for (const at::Tensor& weights : {at::Tensor(), at::arange(13, at::kFloat) / 4}) {
        const auto gradients = [&](const at::Tensor& loss) {
            for (at::Tensor* tensor : {&hidden, &weight, &bias})
                tensor->mutable_grad().reset();
            (0.25 * loss).backward();
            return std::vector<at::Tensor>{hidden.grad(), weight.grad(), bias.grad()};
        };
        const at::Tensor logits = at::linear(hidden, weight, bias),
                         row_nats = at::cross_entropy_loss(logits, labels, {}, at::Reduction::None),
                         nats = (weights.defined() ? weights * row_nats : row_nats).sum();
        const std::vector<at::Tensor> wanted = gradients(nats);
        for (const std::int64_t chunk : {0, 1, 4, 13, 100}) {
            const LinearCrossEntropy out = linear_cross_entropy(hidden, weight, bias, labels, weights, chunk);
            DOCTEST_CHECK(out.nats.item<double>() == doctest::Approx(nats.item<double>()).epsilon(1e-6));
            DOCTEST_CHECK(at::allclose(out.row_nats, row_nats));
            DOCTEST_CHECK(at::equal(out.row_correct, logits.argmax(1).eq(labels)));
            const std::vector<at::Tensor> found = gradients(out.nats);
            for (std::size_t i = 0; i < wanted.size(); ++i)
                DOCTEST_CHECK(at::allclose(found[i], wanted[i], 1e-5, 1e-6));
        }
        const at::NoGradGuard no_gradients;
        DOCTEST_CHECK(linear_cross_entropy(hidden, weight, bias, labels, weights).nats.item<double>() ==
                      doctest::Approx(nats.item<double>()).epsilon(1e-6));
    }
}

DOCTEST_TEST_CASE("linear_cross_entropy: no rows cost nothing") {
    const at::Tensor hidden = at::zeros({0, 5}).requires_grad_();
    const LinearCrossEntropy out =
        linear_cross_entropy(hidden, numbers({7, 5}, 2), at::zeros({7}), at::zeros({0}, at::kLong));
    DOCTEST_CHECK(out.nats.item<double>() == 0);
    DOCTEST_CHECK(!out.row_correct.any().item<bool>());
}

namespace {

/// nats, the gradient, and `correct`.
template <typename Loss>
Results results_of(const LossInputs& inputs, at::ScalarType type, Loss&& loss) {
    const at::Tensor logits = inputs.logits.to(type, false, true);
    const SoftmaxLoss found = loss(logits, inputs.labels);
    return testing::as_results({found.nats, logits, found.correct});
}

Results in_place(const LossInputs& inputs, at::ScalarType type, bool fused = false) {
    return results_of(
        inputs, type,
        [&](const at::Tensor& logits, const at::Tensor& labels) {
            return model::softmax_loss_(logits, labels, true, fused);
        });
}
Results by_twin(const LossInputs& inputs, at::ScalarType type) {
    return results_of(
        inputs, type,
        [](const at::Tensor& logits, const at::Tensor& labels) {
            return model::softmax_loss_by_torch_(logits, labels, true);
        });
}

void check_against_exact(const Results& found, const LossInputs& inputs, at::ScalarType type) {
    const Results exact = loss_by_torch(inputs, at::kDouble);
    DOCTEST_CHECK(testing::as_near_as_torch(found, exact, loss_by_torch(inputs, type)));
    DOCTEST_CHECK(at::equal(found[2], exact[2]));
}

}  // namespace

DOCTEST_TEST_CASE("softmax_loss: as near fp64 as LibTorch, whatever the number of classes") {
    for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kHalf}) {
        for (const std::int64_t classes : {2, 7, 16, 17, 97, 1000}) {
            DOCTEST_CAPTURE(static_cast<int>(type));
            DOCTEST_CAPTURE(classes);
            const LossInputs inputs(9, classes, type);
            check_against_exact(in_place(inputs, type), inputs, type);
            check_against_exact(by_twin(inputs, type), inputs, type);
        }
    }
}

DOCTEST_TEST_CASE("softmax_loss: in float, it differs from its twin by rounding alone") {
    const LossInputs inputs(50, 3001, at::kFloat);
    const Results found = in_place(inputs, at::kFloat), twin = by_twin(inputs, at::kFloat);
    DOCTEST_CHECK(testing::difference(found[0], twin[0]) < 5e-6);
    DOCTEST_CHECK(testing::difference(found[1], twin[1]) < 1e-6);
}

DOCTEST_TEST_CASE("softmax_loss: the loss is the same without a gradient") {
    const LossInputs inputs(9, 100, at::kFloat);
    const at::Tensor logits = inputs.logits.to(at::kFloat);
    const SoftmaxLoss found = model::softmax_loss_(logits, inputs.labels, false);
    DOCTEST_CHECK(at::equal(found.nats.to(at::kDouble), in_place(inputs, at::kFloat)[0]));
}

DOCTEST_TEST_CASE("softmax_loss: what is no number shows in the loss") {
    const LossInputs inputs(9, 100, at::kFloat);
    const at::Tensor logits = inputs.logits.to(at::kFloat);
    logits[5][3] = std::nan("");
    const SoftmaxLoss found = model::softmax_loss_(logits, inputs.labels, true);
    DOCTEST_CHECK(found.nats.isnan().nonzero().item<std::int64_t>() == 5);
}

DOCTEST_TEST_CASE("softmax_loss: the CUDA kernel takes over where it is chosen and can") {
    const attention::cuda::EmulatedKernels emulation(testing::emulated_kernels());
    const LossInputs inputs(9, 1000, at::kBFloat16), odd(9, 97, at::kBFloat16);
    const Results found = in_place(inputs, at::kBFloat16, true);
    check_against_exact(found, inputs, at::kBFloat16);
    DOCTEST_CHECK(!at::equal(found[0], in_place(inputs, at::kBFloat16)[0]));  // it did go another way
    DOCTEST_CHECK(at::equal(in_place(odd, at::kBFloat16, true)[0], in_place(odd, at::kBFloat16)[0]));
}
