// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/layers/onednn_linear.hpp"

#include "support/emulated_kernels.hpp"
#include "support/tensors.hpp"
#include "support/testing.hpp"
#include "unit/model/layers/fused_network_cases.hpp"

#include "bigbird/attention/cuda/host/kernel_library.hpp"
#include "bigbird/core/system/processor.hpp"
#include "bigbird/model/layers/layers.hpp"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/function.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

using namespace bigbird::model;
using namespace bigbird;
using bigbird::testing::difference;
using bigbird::testing::random_tensor;
using bigbird::testing::Results;

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

DOCTEST_TEST_CASE(
    "onednn_linear: two layers, gated or not, in parts where they are wide, are those of LibTorch in fp64") {
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
            const at::Tensor gate = (random_tensor({inner, 48}, 7, at::kFloat) / 28).to(type);
            const auto wide = [](const at::Tensor& y) { return y.to(at::kDouble); };
            const at::Tensor inner_wanted =
                activation("gelu_new", at::linear(wide(x), wide(weight), wide(bias)));
            for (const bool gated : {false, true}) {
                const FeedForwardWeights weights{
                    weight, bias,     gated ? gate : at::Tensor(), gated ? bias / 4 : at::Tensor(),
                    next,   next_bias};
                const at::Tensor features =
                    gated ? inner_wanted * at::linear(wide(x), wide(gate), wide(bias / 4)) : inner_wanted;
                const at::Tensor wanted = at::linear(features, wide(next), wide(next_bias)) + wide(other);
                const at::Tensor found = onednn_feed_forward(x, weights, "gelu_new", other);
                DOCTEST_CHECK(difference(found, wanted) < tolerance(x));
                DOCTEST_CHECK(at::equal(other, kept));
            }
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

namespace {

constexpr std::int64_t in = 6, out = 5;

std::array<Linear, 3> random_layers(bool with_bias, at::ScalarType type) {
    std::array<Linear, 3> layers{Linear(in, out, with_bias), Linear(in, out, with_bias),
                                 Linear(in, out, with_bias)};
    const at::NoGradGuard no_gradient;
    std::uint64_t seed = 1;
    for (Linear& layer : layers) {
        layer->to(type);
        for (at::Tensor& parameter : layer->parameters())
            parameter.copy_(random_tensor(parameter.sizes(), ++seed));
    }
    return layers;
}

using Three = std::array<at::Tensor, 3>;
Three packed(const std::array<Linear, 3>& layers, const at::Tensor& x) {
    return packed_linear(x, {layers[0].get(), layers[1].get(), layers[2].get()});
}
Three one_by_one(const std::array<Linear, 3>& layers, const at::Tensor& x) {
    return {layers[0]->forward(x), layers[1]->forward(x), layers[2]->forward(x)};
}

/// The results and, for random gradients of them, the gradients of x and all parameters.
template <typename Project>
Results run(Project&& project, bool with_bias, at::ScalarType type) {
    const std::array<Linear, 3> layers = random_layers(with_bias, type);
    const at::Tensor x = random_tensor({2, 3, in}, 1, type).requires_grad_();
    const Three y = project(layers, x);
    std::vector<at::Tensor> slopes;
    for (std::uint64_t i = 0; i < 3; ++i)
        slopes.push_back(random_tensor({2, 3, out}, 20 + i).to(y[i].scalar_type()));
    torch::autograd::backward({y[0], y[1], y[2]}, slopes);
    std::vector<at::Tensor> results{y[0], y[1], y[2], x.grad()};
    for (const Linear& layer : layers) {
        for (const at::Tensor& parameter : layer->parameters()) {
            DOCTEST_CHECK((parameter.grad().scalar_type() == type));
            results.push_back(parameter.grad());
        }
    }
    return testing::as_results(std::move(results));
}

void check_near(const Results& found, const Results& wanted, double tolerance) {
    DOCTEST_REQUIRE(found.size() == wanted.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
        DOCTEST_CAPTURE(i);
        // The bias of keys moves no softmax: its gradient is rounding alone, of sums of numbers about 1.
        const double scale = std::max(wanted[i].abs().max().item<double>(), 1e-2);
        DOCTEST_CHECK(difference(found[i], wanted[i]) <= tolerance * scale);
    }
}

/// The gradients of a network that trains, in fp64, packed or not.
Results train(bool is_packed, bool recompute) {
    const BigBirdConfig config = testing::small_config();
    PreTrainingModel network(config);
    initialise(*network, config, 1);
    network->to(at::kDouble);
    network->set_packed_projections(is_packed);
    network->set_recompute(recompute);
    std::vector<TokenSequence> sequences{testing::random_sequence(100, 1), testing::random_sequence(98, 2)};
    const EncoderInput input = make_input(sequences, config, at::kCPU);
    for (int micro_batch = 0; micro_batch < 2; ++micro_batch) {
        const at::Tensor hidden = network->encode(input, false, {1, 2, micro_batch}).hidden;
        // Not the sum of squares: LayerNorm makes that constant, and its gradients rounding alone.
        (hidden * random_tensor(hidden.sizes(), 30)).sum().backward();
    }
    std::vector<at::Tensor> results;
    for (const auto& item : network->named_parameters())
        if (item.value().grad().defined()) results.push_back(item.value().grad());
    return testing::as_results(std::move(results));
}

/// How many steps that led to `result` are packed_linear()'s: alone they have gradients of our own and three
/// results.
std::int64_t packed_steps(const at::Tensor& result) {
    std::set<const torch::autograd::Node*> seen;
    std::vector<const torch::autograd::Node*> waiting{result.grad_fn().get()};
    std::int64_t count = 0;
    while (!waiting.empty()) {
        const torch::autograd::Node* const step = waiting.back();
        waiting.pop_back();
        if (step == nullptr || !seen.insert(step).second) continue;
        count += step->num_inputs() == 3 && step->name().find("OwnGradient") != std::string::npos ? 1 : 0;
        for (const torch::autograd::Edge& edge : step->next_edges())
            waiting.push_back(edge.function.get());
    }
    return count;
}

}  // namespace

DOCTEST_TEST_CASE("packed_linear: results and gradients are those of three layers") {
    for (const bool with_bias : {true, false}) {
        DOCTEST_CAPTURE(with_bias);
        check_near(run(packed, with_bias, at::kDouble), run(one_by_one, with_bias, at::kDouble), 1e-14);
    }
}

DOCTEST_TEST_CASE("packed_linear: under autocast, as three layers, with gradients in the parameters' type") {
    const Results exact = run(one_by_one, true, at::kDouble);
    const testing::InBf16 autocast;
    const Results found = run(packed, true, at::kFloat), twin = run(one_by_one, true, at::kFloat);
    DOCTEST_CHECK(testing::as_near_as_torch(found, exact, twin));
    const std::array<Linear, 3> layers = random_layers(true, at::kFloat);
    DOCTEST_CHECK((packed(layers, random_tensor({2, in}, 1, at::kFloat))[0].scalar_type() == at::kBFloat16));
}

DOCTEST_TEST_CASE("packed_linear: a result that nothing comes of has no gradient to give") {
    const std::array<Linear, 3> layers = random_layers(true, at::kDouble);
    packed(layers, random_tensor({4, in}, 1))[1].sum().backward();
    DOCTEST_CHECK(layers[0]->weight.grad().count_nonzero().item<std::int64_t>() == 0);
    DOCTEST_CHECK(layers[1]->bias.grad().eq(4).all().item<bool>());
}

DOCTEST_TEST_CASE("packed_linear: columns of one tensor are found where they lie side by side") {
    const at::Tensor all = random_tensor({2, 4, 9}, 1);
    const std::vector<at::Tensor> parts = all.chunk(3, -1);
    DOCTEST_CHECK(side_by_side(parts).is_alias_of(all));
    DOCTEST_CHECK(at::equal(side_by_side(parts), all.view({8, 9})));
    DOCTEST_CHECK(!side_by_side({parts[0], parts[2], parts[1]}).defined());
    DOCTEST_CHECK(!side_by_side({parts[0], parts[1], parts[1].clone()}).defined());
    DOCTEST_CHECK(!side_by_side({parts[0].clone(), parts[1].clone(), parts[2].clone()}).defined());
    const auto of_rows = [&](std::int64_t rows) {
        return side_by_side(random_tensor({2, rows + 1, 9}, 1).narrow(1, 0, rows).chunk(3, -1));
    };
    DOCTEST_CHECK(!of_rows(4).defined());
}

DOCTEST_TEST_CASE("packed_linear: a network that is told to computes by it, and else not") {
    const BigBirdConfig config = testing::small_config();
    const std::vector<TokenSequence> sequences{testing::random_sequence(20, 1)};
    for (const bool is_packed : {false, true}) {
        PreTrainingModel network(config);
        initialise(*network, config, 1);
        network->set_packed_projections(is_packed);
        const at::Tensor hidden = network->encode(make_input(sequences, config, at::kCPU)).hidden;
        DOCTEST_CHECK(packed_steps(hidden) == (is_packed ? config.num_hidden_layers : 0));
    }
}

DOCTEST_TEST_CASE("packed_linear: a network trains by it as without, layers recomputed or not") {
    const Results wanted = train(false, false);
    for (const bool recompute : {false, true}) {
        DOCTEST_CAPTURE(recompute);
        check_near(train(true, recompute), wanted, 1e-10);
    }
}

DOCTEST_TEST_CASE("packed_linear: the CUDA kernels' gradients are taken as they lie") {
    const attention::cuda::EmulatedKernels emulation(testing::emulated_kernels());
    const BigBirdConfig config = testing::kernel_config();
    const std::int64_t blocks = 8, length = blocks * config.pattern.block_size;
    attention::LayoutCache layouts(config.pattern, 2);
    const auto layout = layouts.get(static_cast<int>(blocks), 0, at::kCPU, false);
    const at::Tensor all = random_tensor({2, length, 384}, 1, at::kBFloat16).requires_grad_();
    const std::vector<at::Tensor> parts = all.chunk(3, -1);
    std::vector<at::Tensor> found(3);
    const auto by_head = [&](std::size_t i) {
        parts[i].register_hook([&found, i](const at::Tensor& gradient) { found[i] = gradient; });
        return parts[i].view({2, length, 2, 64}).transpose(1, 2);
    };
    const at::Tensor y =
        attention::sparse_attention(by_head(0), by_head(1), by_head(2), at::ones({2, length}, at::kBool),
                                    *layout, attention::Backend::fused);
    y.sum().backward();
    DOCTEST_CHECK(side_by_side(found).defined());
}
