// SPDX-License-Identifier: Apache-2.0
#include "bigbird/training/optimizer.hpp"

#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

#include <ATen/ATen.h>

#include <cmath>
#include <limits>
#include <map>

using namespace bigbird;
using namespace bigbird::training;

namespace {

struct Net : torch::nn::Module {
    Net() {
        weight = register_parameter("weight", at::arange(12, at::kFloat).reshape({4, 3}) / 10 - 0.5);
        bias = register_parameter("bias", at::arange(4, at::kFloat) / 7);
        tied = weight;
        register_parameter("tied", weight);
    }
    at::Tensor weight, bias, tied;
};

at::Tensor gradient_of(const at::Tensor& parameter, int step) {
    return (parameter.detach() * 3 + step).sin() * (step % 3 == 0 ? 5.0 : 0.1);
}

/// AdamW written out element by element in double.
struct SlowTwin {
    OptimizerSpec spec;
    std::map<std::string, std::vector<double>> value = {}, first = {}, second = {};
    int steps = 0;

    void update(const std::map<std::string, std::vector<double>>& gradients, double rate) {
        double squares = 0;
        for (const auto& [name, gradient] : gradients) {
            for (const double g : gradient) {
                squares += g * g;
            }
        }
        const double norm = std::sqrt(squares);
        const double scale = spec.clip_norm > 0 && norm > spec.clip_norm ? spec.clip_norm / norm : 1.0;
        ++steps;
        for (const auto& [name, gradient] : gradients) {
            const double decay = name == "weight" ? spec.weight_decay : 0.0;
            first[name].resize(gradient.size());
            second[name].resize(gradient.size());
            for (std::size_t i = 0; i < gradient.size(); ++i) {
                const double g = gradient[i] * scale;
                double& m = first[name][i];
                double& v = second[name][i];
                double& x = value[name][i];
                m = spec.beta1 * m + (1 - spec.beta1) * g;
                v = spec.beta2 * v + (1 - spec.beta2) * g * g;
                const double m_hat = m / (1 - std::pow(spec.beta1, steps));
                const double v_hat = v / (1 - std::pow(spec.beta2, steps));
                x = x - rate * decay * x - rate * m_hat / (std::sqrt(v_hat) + spec.epsilon);
            }
        }
    }
};

std::vector<double> doubles(const at::Tensor& tensor) {
    const at::Tensor flat = tensor.detach().to(at::kDouble).contiguous();
    return {flat.const_data_ptr<double>(), flat.const_data_ptr<double>() + flat.numel()};
}

void set_gradients(Net& net, int step) {
    net.weight.mutable_grad() = gradient_of(net.weight, step);
    net.bias.mutable_grad() = gradient_of(net.bias, step);
}

}  // namespace

DOCTEST_TEST_CASE(
    "optimizer: equals AdamW written out, with clipping, decay of matrices alone and tied parameters once") {
    for (const double clip : {0.0, 0.5}) {
        Net net;
        const OptimizerSpec spec{.weight_decay = 0.1, .clip_norm = clip};
        AdamW optimizer(net, spec);
        SlowTwin twin{.spec = spec};
        twin.value = {{"weight", doubles(net.weight)}, {"bias", doubles(net.bias)}};
        for (int step = 1; step <= 20; ++step) {
            set_gradients(net, step);
            const std::map<std::string, std::vector<double>> gradients{{"weight", doubles(net.weight.grad())},
                                                                       {"bias", doubles(net.bias.grad())}};
            double squares = 0;
            for (const auto& [name, gradient] : gradients) {
                for (const double g : gradient) {
                    squares += g * g;
                }
            }
            const double norm = optimizer.step(0.01 / step).item<double>();
            DOCTEST_CHECK(norm == doctest::Approx(std::sqrt(squares)).epsilon(1e-5));
            twin.update(gradients, 0.01 / step);
        }
        for (const auto& [name, tensor] : {std::pair{"weight", net.weight}, std::pair{"bias", net.bias}}) {
            const std::vector<double> ours = doubles(tensor);
            for (std::size_t i = 0; i < ours.size(); ++i) {
                DOCTEST_CHECK(ours[i] == doctest::Approx(twin.value[name][i]).epsilon(2e-6));
            }
        }
    }
}

DOCTEST_TEST_CASE("optimizer: a gradient or a loss that is not finite changes nothing") {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (const bool by_loss : {false, true}) {
        Net net;
        AdamW optimizer(net, {});
        set_gradients(net, 1);
        optimizer.step(0.1);
        const at::Tensor before = net.weight.detach().clone();
        const at::Tensor moment = optimizer.state().at("moment1.weight").clone();
        set_gradients(net, 2);
        if (!by_loss) {
            net.bias.mutable_grad()[0] = std::numeric_limits<float>::infinity();
        }
        const at::Tensor norm = optimizer.step(0.1, at::scalar_tensor(by_loss ? nan : 1.0));
        DOCTEST_CHECK(std::isfinite(norm.item<double>()) == by_loss);
        DOCTEST_CHECK(at::equal(net.weight, before));
        DOCTEST_CHECK(at::equal(optimizer.state().at("moment1.weight"), moment));
        DOCTEST_CHECK(optimizer.state().at("step").item<double>() == 1);
    }
}

DOCTEST_TEST_CASE("optimizer: a parameter without gradient decays alone; zero_gradients forgets them") {
    Net net;
    AdamW optimizer(net, {.weight_decay = 0.5});
    set_gradients(net, 1);
    optimizer.zero_gradients();
    DOCTEST_CHECK_FALSE(net.weight.grad().defined());
    const at::Tensor weight = net.weight.detach().clone(), bias = net.bias.detach().clone();
    net.bias.mutable_grad() = at::zeros_like(net.bias);
    optimizer.step(0.1);
    DOCTEST_CHECK(at::allclose(net.weight, weight * 0.95));
    DOCTEST_CHECK(at::equal(net.bias, bias));
}

DOCTEST_TEST_CASE("optimizer: restored state goes on bit for bit; a foreign one is refused") {
    Net a, b;
    AdamW first(a, {}), second(b, {});
    for (int step = 1; step <= 3; ++step) {
        set_gradients(a, step);
        first.step(0.01);
    }
    model::TensorMap state;
    for (const auto& [name, tensor] : first.state()) {
        state.emplace(name, tensor.clone());
    }
    {
        const at::NoGradGuard guard;
        b.weight.copy_(a.weight);
        b.bias.copy_(a.bias);
    }
    second.restore(state);
    set_gradients(a, 4);
    set_gradients(b, 4);
    first.step(0.01);
    second.step(0.01);
    DOCTEST_CHECK(at::equal(a.weight, b.weight));
    DOCTEST_CHECK(at::equal(a.bias, b.bias));
    state.erase("moment2.bias");
    DOCTEST_CHECK(testing::message_of<InputError>([&] { second.restore(state); }) ==
                  "the optimizer state lacks moment2.bias; it belongs to another model");
    state["moment2.bias"] = at::zeros({5});
    DOCTEST_CHECK_THROWS_AS(second.restore(state), InputError);
}

DOCTEST_TEST_CASE("optimizer: values out of range are named") {
    Net net;
    DOCTEST_CHECK_THROWS_AS(AdamW(net, {.weight_decay = -1}), ConfigError);
    DOCTEST_CHECK_THROWS_AS(AdamW(net, {.clip_norm = -1}), ConfigError);
}
