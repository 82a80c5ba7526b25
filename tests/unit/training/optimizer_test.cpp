// SPDX-License-Identifier: Apache-2.0
#include "bigbird/training/optimizer.hpp"

#include "support/tensors.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <utility>
#include <vector>

using namespace bigbird;
using namespace bigbird::training;
using bigbird::testing::difference;
using bigbird::testing::random_tensor;

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
        for (const auto& [name, gradient] : gradients)
            for (const double g : gradient)
                squares += g * g;
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
        Optimizer optimizer(net, spec);
        SlowTwin twin{.spec = spec};
        twin.value = {{"weight", doubles(net.weight)}, {"bias", doubles(net.bias)}};
        for (int step = 1; step <= 20; ++step) {
            set_gradients(net, step);
            const std::map<std::string, std::vector<double>> gradients{{"weight", doubles(net.weight.grad())},
                                                                       {"bias", doubles(net.bias.grad())}};
            double squares = 0;
            for (const auto& [name, gradient] : gradients)
                for (const double g : gradient)
                    squares += g * g;
            const double norm = optimizer.step(0.01 / step).item<double>();
            DOCTEST_CHECK(norm == doctest::Approx(std::sqrt(squares)).epsilon(1e-5));
            twin.update(gradients, 0.01 / step);
        }
        for (const auto& [name, tensor] : {std::pair{"weight", net.weight}, std::pair{"bias", net.bias}}) {
            const std::vector<double> ours = doubles(tensor);
            for (std::size_t i = 0; i < ours.size(); ++i)
                DOCTEST_CHECK(ours[i] == doctest::Approx(twin.value[name][i]).epsilon(2e-6));
        }
    }
}

DOCTEST_TEST_CASE("optimizer: a gradient or a loss that is not finite changes nothing") {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (const bool by_loss : {false, true}) {
        Net net;
        Optimizer optimizer(net, {});
        set_gradients(net, 1);
        optimizer.step(0.1);
        const at::Tensor before = net.weight.detach().clone();
        const at::Tensor moment = optimizer.state().at("moment1.weight").clone();
        set_gradients(net, 2);
        if (!by_loss) net.bias.mutable_grad()[0] = std::numeric_limits<float>::infinity();
        const at::Tensor norm = optimizer.step(0.1, at::scalar_tensor(by_loss ? nan : 1.0));
        DOCTEST_CHECK(std::isfinite(norm.item<double>()) == by_loss);
        DOCTEST_CHECK(at::equal(net.weight, before));
        DOCTEST_CHECK(at::equal(optimizer.state().at("moment1.weight"), moment));
        DOCTEST_CHECK(optimizer.state().at("step").item<double>() == 1);
    }
}

DOCTEST_TEST_CASE("optimizer: a parameter without gradient decays alone, zero_gradients forgets them") {
    Net net;
    Optimizer optimizer(net, {.weight_decay = 0.5});
    set_gradients(net, 1);
    optimizer.zero_gradients();
    DOCTEST_CHECK_FALSE(net.weight.grad().defined());
    const at::Tensor weight = net.weight.detach().clone(), bias = net.bias.detach().clone();
    net.bias.mutable_grad() = at::zeros_like(net.bias);
    optimizer.step(0.1);
    DOCTEST_CHECK(at::allclose(net.weight, weight * 0.95));
    DOCTEST_CHECK(at::equal(net.bias, bias));
}

DOCTEST_TEST_CASE("optimizer: restored state goes on bit for bit, a foreign one is refused") {
    Net a, b;
    Optimizer first(a, {}), second(b, {});
    for (int step = 1; step <= 3; ++step) {
        set_gradients(a, step);
        first.step(0.01);
    }
    model::TensorMap state;
    for (const auto& [name, tensor] : first.state())
        state.emplace(name, tensor.clone());
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

namespace {

/// "encoder.layer.weight", a matrix for Muon, its bias and embeddings.
struct Encoder : torch::nn::Module {
    Encoder() {
        const auto encoder = register_module("encoder", std::make_shared<torch::nn::Module>());
        const auto layer = encoder->register_module("layer", std::make_shared<torch::nn::Module>());
        weight = layer->register_parameter("weight", at::arange(15, at::kFloat).reshape({3, 5}).cos());
        bias = layer->register_parameter("bias", at::arange(3, at::kFloat) / 7);
        embeddings = register_parameter("embeddings", at::arange(12, at::kFloat).reshape({4, 3}) / 10);
    }
    std::vector<at::Tensor> all() const { return {weight, bias, embeddings}; }
    at::Tensor weight, bias, embeddings;
};

void set_gradients(Encoder& net, int step) {
    for (at::Tensor& parameter : net.parameters())
        parameter.mutable_grad() =
            (at::arange(parameter.numel(), at::kFloat) * 3 + step).sin().view_as(parameter) * step;
}

const OptimizerSpec muon{.kind = OptimizerKind::muon, .weight_decay = 0.1, .clip_norm = 0.5};

bool all_equal(const std::vector<at::Tensor>& a, const std::vector<at::Tensor>& b) {
    for (std::size_t i = 0; i < a.size(); ++i)
        if (!at::equal(a[i], b[i])) return false;
    return true;
}

std::vector<at::Tensor> copies(const std::vector<at::Tensor>& tensors) {
    std::vector<at::Tensor> all;
    for (const at::Tensor& tensor : tensors)
        all.push_back(tensor.detach().clone());
    return all;
}

}  // namespace

DOCTEST_TEST_CASE(
    "optimizer: muon updates matrices of layers, clipped with all others, the rest is AdamW's") {
    OptimizerSpec adamw = muon;
    adamw.kind = OptimizerKind::adamw;
    Encoder net, without;
    Optimizer optimizer(net, muon), plain(without, adamw);
    at::Tensor value = net.weight.detach().to(at::kDouble), momentum = at::zeros_like(value);
    for (int step = 1; step <= 5; ++step) {
        set_gradients(net, step);
        set_gradients(without, step);
        const at::Tensor gradient = net.weight.grad().to(at::kDouble);
        const double rate = 0.1 / step, norm = optimizer.step(rate).item<double>();
        DOCTEST_CHECK(norm == plain.step(rate).item<double>());
        muon_update(value, momentum, gradient,
                    {.learning_rate = rate,
                     .weight_decay = 0.1,
                     .divisor = at::scalar_tensor(std::max(1.0, norm / 0.5), at::kDouble),
                     .broken = at::scalar_tensor(false, at::kBool)});
    }
    DOCTEST_CHECK(at::allclose(net.weight.detach().to(at::kDouble), value, 1e-5, 1e-5));
    DOCTEST_CHECK_FALSE(at::allclose(net.weight, without.weight, 1e-2, 1e-2));
    DOCTEST_CHECK(at::equal(net.bias, without.bias));
    DOCTEST_CHECK(at::equal(net.embeddings, without.embeddings));
}

DOCTEST_TEST_CASE("optimizer: with muon a gradient or a loss that is not finite changes nothing") {
    for (const bool by_loss : {false, true}) {
        Encoder net;
        Optimizer optimizer(net, muon);
        set_gradients(net, 1);
        optimizer.step(0.1);
        const std::vector<at::Tensor> before = copies(net.all());
        const at::Tensor momentum = optimizer.state().at("momentum.encoder.layer.weight").clone();
        set_gradients(net, 2);
        const float broken = std::numeric_limits<float>::quiet_NaN();
        if (!by_loss) net.weight.mutable_grad()[0][0] = broken;
        optimizer.step(0.1, at::scalar_tensor(by_loss ? broken : 1.0F));
        DOCTEST_CHECK(all_equal(net.all(), before));
        DOCTEST_CHECK(at::equal(optimizer.state().at("momentum.encoder.layer.weight"), momentum));
        DOCTEST_CHECK(optimizer.state().at("step").item<double>() == 1);
    }
}

DOCTEST_TEST_CASE(
    "optimizer: muon's state goes on bit for bit, that of AdamW is refused, and the other way") {
    Encoder a, b;
    Optimizer first(a, muon), second(b, muon);
    for (int step = 1; step <= 3; ++step) {
        set_gradients(a, step);
        first.step(0.01);
    }
    model::TensorMap state;
    for (const auto& [name, tensor] : first.state())
        state.emplace(name, tensor.clone());
    DOCTEST_CHECK(state.size() == 6);  // the step, a momentum, two moments of each of the others
    {
        const at::NoGradGuard guard;
        for (std::size_t i = 0; i < a.all().size(); ++i)
            b.all()[i].copy_(a.all()[i]);
    }
    second.restore(state);
    for (int step = 4; step <= 6; ++step) {
        set_gradients(a, step);
        set_gradients(b, step);
        first.step(0.01);
        second.step(0.01);
    }
    DOCTEST_CHECK(all_equal(a.all(), b.all()));
    Optimizer adamw(b, {});
    DOCTEST_CHECK(testing::message_of<InputError>([&] { adamw.restore(state); }) ==
                  "the optimizer state is that of --optimizer muon, this run's is adamw");
    DOCTEST_CHECK(testing::message_of<InputError>([&] { first.restore(adamw.state()); }) ==
                  "the optimizer state is that of --optimizer adamw, this run's is muon");
}

namespace {

using Matrix = std::vector<std::vector<double>>;

Matrix zeros(std::size_t rows, std::size_t columns) {
    return Matrix(rows, std::vector<double>(columns));
}

Matrix matrix_of(const at::Tensor& tensor) {
    Matrix matrix = zeros(static_cast<std::size_t>(tensor.size(0)), static_cast<std::size_t>(tensor.size(1)));
    for (std::size_t i = 0; i < matrix.size(); ++i)
        for (std::size_t j = 0; j < matrix[i].size(); ++j)
            matrix[i][j] = tensor[static_cast<std::int64_t>(i)][static_cast<std::int64_t>(j)].item<double>();
    return matrix;
}

Matrix product(const Matrix& a, const Matrix& b) {
    Matrix c = zeros(a.size(), b[0].size());
    for (std::size_t i = 0; i < c.size(); ++i)
        for (std::size_t j = 0; j < c[0].size(); ++j)
            for (std::size_t k = 0; k < b.size(); ++k)
                c[i][j] += a[i][k] * b[k][j];
    return c;
}

Matrix transposed(const Matrix& a) {
    Matrix b = zeros(a[0].size(), a.size());
    for (std::size_t i = 0; i < a.size(); ++i)
        for (std::size_t j = 0; j < a[0].size(); ++j)
            b[j][i] = a[i][j];
    return b;
}

/// sum of weight * matrix
Matrix sum(const std::vector<std::pair<double, Matrix>>& terms) {
    Matrix all = zeros(terms[0].second.size(), terms[0].second[0].size());
    for (const auto& [weight, matrix] : terms)
        for (std::size_t i = 0; i < all.size(); ++i)
            for (std::size_t j = 0; j < all[0].size(); ++j)
                all[i][j] += weight * matrix[i][j];
    return all;
}

/// The papers' formulas, element by element; no matrix is transposed to make it wide.
Matrix slowly_orthogonalised(const Matrix& matrix) {
    double squares = 0;
    for (const auto& row : matrix)
        for (const double value : row)
            squares += value * value;
    Matrix x = sum({{1 / (std::sqrt(squares) + 1e-7), matrix}});
    for (int i = 0; i < 5; ++i) {
        const Matrix square = product(x, transposed(x));
        const Matrix once = product(square, x), twice = product(square, once);
        x = sum({{3.4445, x}, {-4.7750, once}, {2.0315, twice}});
    }
    return x;
}

struct SlowMuon {
    Matrix value, momentum;

    void update(const Matrix& gradient, double divisor, double rate, double decay) {
        const Matrix g = sum({{1 / divisor, gradient}});
        momentum = sum({{0.95, momentum}, {1, g}});
        const Matrix update = slowly_orthogonalised(sum({{1, g}, {0.95, momentum}}));
        const double longer = static_cast<double>(std::max(value.size(), value[0].size()));
        value = sum({{1 - rate * decay, value}, {-rate * 0.2 * std::sqrt(longer), update}});
    }
};

const std::vector<std::vector<std::int64_t>> wide_tall_square{{3, 7}, {8, 3}, {5, 5}};

at::Tensor truth(bool value) {
    return at::scalar_tensor(value, at::kBool);
}

/// U S V^T with singular values from `low` to 1.
at::Tensor with_spectrum(std::int64_t rows, std::int64_t columns, double low) {
    const auto [u, s, v] = at::linalg_svd(random_tensor({rows, columns}, 7), false);
    return at::matmul(u * at::linspace(low, 1, s.size(0), s.options()), v);
}

}  // namespace

DOCTEST_TEST_CASE("muon: several steps equal the papers' formulas written out, for wide, tall and square") {
    for (const auto& shape : wide_tall_square) {
        at::Tensor value = random_tensor(shape, 1), momentum = at::zeros_like(value);
        SlowMuon twin{matrix_of(value), matrix_of(momentum)};
        for (std::uint64_t step = 1; step <= 6; ++step) {
            const at::Tensor gradient = random_tensor(shape, 10 + step);
            const double divisor = step % 2 == 0 ? 2.5 : 1, rate = 0.1 / static_cast<double>(step);
            muon_update(value, momentum, gradient,
                        {.learning_rate = rate,
                         .weight_decay = 0.3,
                         .divisor = step % 2 == 0 ? at::scalar_tensor(divisor, at::kDouble) : at::Tensor(),
                         .broken = truth(false)});
            twin.update(matrix_of(gradient), divisor, rate, 0.3);
        }
        const auto close = [](const at::Tensor& ours, const Matrix& theirs) {
            const Matrix mine = matrix_of(ours);
            double worst = 0;
            for (std::size_t i = 0; i < mine.size(); ++i)
                for (std::size_t j = 0; j < mine[0].size(); ++j)
                    worst = std::max(worst, std::abs(mine[i][j] - theirs[i][j]));
            return worst < 1e-12;
        };
        DOCTEST_CHECK(close(value, twin.value));
        DOCTEST_CHECK(close(momentum, twin.momentum));
    }
}

DOCTEST_TEST_CASE("muon: an update is nearly orthogonal, in float32 and bfloat16 too") {
    for (const auto& [rows, columns] : {std::pair{16, 48}, {48, 16}, {32, 32}}) {
        for (const at::ScalarType type : {at::kDouble, at::kFloat, at::kBFloat16}) {
            const at::Tensor found = orthogonalised(with_spectrum(rows, columns, 0.05).to(type));
            DOCTEST_CHECK((found.scalar_type() == type));
            const at::Tensor values = at::linalg_svdvals(found.to(at::kDouble));
            DOCTEST_CHECK(values.min().item<double>() > 0.67);
            DOCTEST_CHECK(values.max().item<double>() < 1.21);
        }
    }
}

DOCTEST_TEST_CASE("muon: orthogonalised() keeps the singular vectors, and zero") {
    const at::Tensor matrix = with_spectrum(6, 10, 0.2);
    const auto [u, s, v] = at::linalg_svd(matrix, false);
    const at::Tensor inner = at::matmul(at::matmul(u.t(), orthogonalised(matrix)), v.t());
    DOCTEST_CHECK(difference(inner, at::diag(inner.diagonal())) < 1e-10);
    DOCTEST_CHECK(at::equal(orthogonalised(at::zeros({3, 4})), at::zeros({3, 4})));
}

DOCTEST_TEST_CASE("muon: an update is as large as AdamW's, whatever the shape and the gradient's size") {
    for (const auto& shape : {std::vector<std::int64_t>{16, 64}, {64, 16}, {64, 64}}) {
        for (const double size : {1e-6, 1.0, 1e6}) {
            at::Tensor value = at::zeros(shape, at::kDouble), momentum = at::zeros_like(value);
            muon_update(value, momentum, random_tensor(shape, 3) * size,
                        {.learning_rate = 1, .broken = truth(false)});
            const double rms = value.square().mean().sqrt().item<double>();
            DOCTEST_CHECK(rms > 0.2 * 0.6);
            DOCTEST_CHECK(rms < 0.2 * 1.2);
        }
    }
}

DOCTEST_TEST_CASE("muon: takes the matrices of layers alone") {
    const at::Tensor matrix = at::zeros({2, 2});
    DOCTEST_CHECK(is_hidden_matrix("bert.encoder.layer.11.attention.self.query.weight", matrix));
    DOCTEST_CHECK_FALSE(is_hidden_matrix("bert.encoder.layer.11.attention.self.query.bias", at::zeros({2})));
    for (const char* name : {"bert.embeddings.word_embeddings.weight", "bert.pooler.weight",
                             "cls.predictions.transform.dense.weight", "cls.seq_relationship.weight"})
        DOCTEST_CHECK_FALSE(is_hidden_matrix(name, matrix));
    DOCTEST_CHECK_FALSE(is_hidden_matrix("bert.embeddings.convolution.weight", at::zeros({2, 1, 3})));
}

DOCTEST_TEST_CASE("optimizer: values out of range are named") {
    Net net;
    DOCTEST_CHECK_THROWS_AS(Optimizer(net, {.weight_decay = -1}), ConfigError);
}

DOCTEST_TEST_CASE("muon: a broken step changes nothing, even where the gradient is not finite") {
    at::Tensor value = random_tensor({4, 3}, 1), momentum = random_tensor({4, 3}, 2);
    const at::Tensor value_before = value.clone(), momentum_before = momentum.clone();
    at::Tensor gradient = random_tensor({4, 3}, 3);
    gradient[1][2] = std::numeric_limits<double>::quiet_NaN();
    muon_update(value, momentum, gradient, {.learning_rate = 1, .weight_decay = 0.1, .broken = truth(true)});
    DOCTEST_CHECK(at::equal(value, value_before));
    DOCTEST_CHECK(at::equal(momentum, momentum_before));
}
