// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/layers/onednn_linear.hpp"

#include "support/tensors.hpp"
#include "support/testing.hpp"
#include "unit/model/layers/fused_network_cases.hpp"

#include "bigbird/core/system/processor.hpp"
#include "bigbird/model/layers/layers.hpp"

#include <ATen/ATen.h>

#include <vector>

using namespace bigbird::model;
using bigbird::testing::difference;
using bigbird::testing::random_tensor;

namespace {

/// How far a result may be off: rounding of the sums, and of the result itself.
double tolerance(const at::Tensor& x) {
    return x.scalar_type() == at::kFloat ? 2e-6 : 2e-2;
}

struct Case {
    at::Tensor x, weight, bias, other;
    explicit Case(at::ScalarType type)
        : x(random_tensor({2, 5, 48}, 1, type)),
          weight((random_tensor({33, 48}, 2, at::kFloat) / 7).to(type)),
          bias(random_tensor({33}, 3, type)),
          other(random_tensor({2, 5, 33}, 4, type)) {}
    at::Tensor wanted(const at::Tensor& with_bias) const {
        return at::linear(x.to(at::kDouble), weight.to(at::kDouble),
                          with_bias.defined() ? with_bias.to(at::kDouble) : at::Tensor());
    }
};

}  // namespace

DOCTEST_TEST_CASE("onednn_linear: products, activations and sums are those of LibTorch in fp64") {
    const at::NoGradGuard no_gradient;
    for (const at::ScalarType type : {at::kFloat, at::kBFloat16}) {
        const Case c(type);
        if (!has_onednn_linear(c.x)) continue;
        for (const at::Tensor& bias : {c.bias, at::Tensor()}) {
            const at::Tensor wanted = c.wanted(bias);
            DOCTEST_CHECK(difference(onednn_linear(c.x, c.weight, bias), wanted) < tolerance(c.x));
            DOCTEST_CHECK(difference(onednn_linear_add(c.x, c.weight, bias, c.other),
                                     wanted + c.other.to(at::kDouble)) < tolerance(c.x));
            for (const std::string name :
                 {"gelu", "gelu_new", "gelu_pytorch_tanh", "relu", "silu", "swish"}) {
                DOCTEST_CAPTURE(name);
                const at::Tensor found = onednn_linear(c.x, c.weight, bias, name);
                DOCTEST_CHECK(difference(found, activation(name, wanted.clone())) < tolerance(c.x));
            }
        }
        const at::Tensor strided = c.x.transpose(0, 1);
        DOCTEST_CHECK(difference(onednn_linear(strided, c.weight, c.bias), c.wanted(c.bias).transpose(0, 1)) <
                      tolerance(c.x));
    }
}

DOCTEST_TEST_CASE("onednn_linear: two layers, in parts where they are wide, are those of LibTorch in fp64") {
    const at::NoGradGuard no_gradient;
    for (const at::ScalarType type : {at::kFloat, at::kBFloat16}) {
        const at::Tensor x = random_tensor({2, 5, 48}, 1, type);
        if (!has_onednn_linear(x)) continue;
        for (const std::int64_t inner : {32, 1024, 2500}) {
            DOCTEST_CAPTURE(inner);
            const at::Tensor weight = (random_tensor({inner, 48}, 2, at::kFloat) / 7).to(type),
                             next = (random_tensor({33, inner}, 3, at::kFloat) / 50).to(type),
                             bias = random_tensor({inner}, 4, type), next_bias = random_tensor({33}, 5, type),
                             other = random_tensor({2, 5, 33}, 6, type), kept = other.clone();
            const auto wide = [](const at::Tensor& y) { return y.to(at::kDouble); };
            const at::Tensor wanted =
                at::linear(activation("gelu_new", at::linear(wide(x), wide(weight), wide(bias))), wide(next),
                           wide(next_bias)) +
                wide(other);
            const at::Tensor found = onednn_feed_forward(x, weight, bias, "gelu_new", next, next_bias, other);
            DOCTEST_CHECK(difference(found, wanted) < tolerance(x));
            DOCTEST_CHECK(at::equal(other, kept));
        }
    }
}

DOCTEST_TEST_CASE("onednn_linear: training's products and gradients are those of LibTorch in fp64") {
    if (!has_onednn_training(at::zeros({2, 5, 48}))) return;
    for (const std::int64_t in : {20, 48, 1500}) {
        DOCTEST_CAPTURE(in);
        const at::Tensor values = random_tensor({2, 70, in}, 1, at::kFloat),
                         weights = random_tensor({33, in}, 2, at::kFloat) / 7,
                         biases = random_tensor({33}, 3, at::kFloat),
                         slopes = random_tensor({70, 2, 33}, 4, at::kFloat).transpose(0, 1);
        const auto gradients = [&](at::ScalarType type, bool with_bias, bool of_x, auto&& linear) {
            const at::Tensor x = values.to(type).clone().requires_grad_(of_x),
                             weight = weights.to(type).clone().requires_grad_(true),
                             bias = with_bias ? biases.to(type).clone().requires_grad_(true) : at::Tensor();
            const at::Tensor y = linear(x, weight, bias);
            y.backward(slopes.to(type));
            DOCTEST_CHECK(weight.grad().is_contiguous());
            return std::vector<at::Tensor>{y.detach(), weight.grad(), of_x ? x.grad() : at::zeros({}),
                                           with_bias ? bias.grad() : at::zeros({})};
        };
        const auto exact = [](const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
            return at::linear(x, weight, bias);
        };
        for (const bool with_bias : {true, false}) {
            for (const bool of_x : {true, false}) {
                const auto found = gradients(at::kFloat, with_bias, of_x, onednn_trained_linear),
                           wanted = gradients(at::kDouble, with_bias, of_x, exact);
                for (std::size_t i = 0; i < wanted.size(); ++i) {
                    DOCTEST_CAPTURE(i);
                    DOCTEST_CHECK(difference(found[i], wanted[i]) < 1e-4);
                }
            }
        }
    }
}

DOCTEST_TEST_CASE("onednn_linear: a pass that is to equal one with gradients computes the same bits") {
    for (const std::int64_t in : {48, 1500}) {
        const at::Tensor x = random_tensor({4, 70, in}, 1, at::kFloat),
                         weight = random_tensor({33, in}, 2, at::kFloat),
                         bias = random_tensor({33}, 3, at::kFloat);
        if (!has_onednn_training(x)) return;
        const at::Tensor with = onednn_trained_linear(x, weight, bias);
        const at::NoGradGuard no_gradient;
        const AsWithGradients same;
        DOCTEST_CHECK(has_onednn_training(x));
        DOCTEST_CHECK(at::equal(with, onednn_trained_linear(x, weight, bias)));
    }
}

DOCTEST_TEST_CASE("onednn_linear: training is not asked of it for other types, picked rows or autocast") {
    const at::Tensor x = random_tensor({2, 5, 48}, 1, at::kFloat);
    const bool is_asked =
        !bigbird::is_intel_processor() && bigbird::instruction_set() >= bigbird::InstructionSet::avx2;
    DOCTEST_CHECK(has_fast_onednn_training(x) == (has_onednn_training(x) && is_asked));
    DOCTEST_CHECK(!has_onednn_training(x.to(at::kDouble)));
    DOCTEST_CHECK(!has_onednn_training(x.to(at::kBFloat16)));
    DOCTEST_CHECK(!has_onednn_training(x.flatten(0, 1)));
    DOCTEST_CHECK(!has_onednn_training(x.slice(1, 0, 0)));
    {
        const bigbird::testing::InBf16 autocast;
        DOCTEST_CHECK(!has_onednn_training(x));
    }
    const at::NoGradGuard no_gradient;
    DOCTEST_CHECK(!has_onednn_training(x));
}

DOCTEST_TEST_CASE("onednn_linear: Linear computes the same with and without gradients") {
    const Case c(at::kFloat);
    DOCTEST_CHECK(!has_onednn_linear(c.x));
    Linear linear(48, 33);
    {
        const at::NoGradGuard no_gradient;
        linear->weight.copy_(c.weight);
        linear->bias.copy_(c.bias);
    }
    const at::Tensor activated = linear->forward_and_activate(c.x, "gelu_new"),
                     added = linear->forward_and_add(c.x, c.other);
    DOCTEST_CHECK(activated.requires_grad());
    const at::NoGradGuard no_gradient;
    DOCTEST_CHECK(!has_onednn_linear(c.x.to(at::kDouble)));
    DOCTEST_CHECK(!has_onednn_linear(at::zeros({2, 3072})));  // sums too long for the exactness wanted
    DOCTEST_CHECK(difference(linear->forward_and_activate(c.x, "gelu_new"), activated) < 2e-6);
    DOCTEST_CHECK(difference(linear->forward_and_add(c.x, c.other), added) < 2e-6);
}
