// SPDX-License-Identifier: Apache-2.0
#include "bigbird/baselines/window/linear_svm.hpp"

#include "support/tensors.hpp"
#include "support/testing.hpp"

#include "bigbird/baselines/window/ridge.hpp"

using namespace bigbird;
using namespace bigbird::testing;
using baselines::LinearSvm;

namespace {

/// |w|^2 / 2 + b^2 / 2 + sum of weighted hinges: what is minimised.
double objective(const at::Tensor& x, const std::vector<std::uint8_t>& labels,
                 const baselines::LinearScores& model, double cost, double positive_weight) {
    const at::Tensor scores = at::matmul(x, model.weight) + model.bias;
    double sum = (model.weight.square().sum() + model.bias.square()).item<double>() / 2;
    for (std::size_t i = 0; i < labels.size(); ++i) {
        const double sign = labels[i] == 1 ? 1 : -1;
        const double hinge = std::max(0.0, 1 - sign * scores[static_cast<std::int64_t>(i)].item<double>());
        sum += cost * (labels[i] == 1 ? positive_weight : 1) * hinge;
    }
    return sum;
}

}  // namespace

DOCTEST_TEST_CASE("baselines/linear_svm: two points on a line, whichever comes first") {
    for (const std::vector<std::uint8_t>& labels : {std::vector<std::uint8_t>{1, 0}, {0, 1}}) {
        LinearSvm svm(1);
        const float positive = labels[0] == 1 ? 1 : -1;
        svm.add(std::vector<float>{1});
        svm.add(std::vector<float>{-1});
        const auto solved = svm.train(labels, {.cost = 10, .positive_weight = 1, .tolerance = 1e-6});
        DOCTEST_CHECK(solved.weight[0].item<double>() == doctest::Approx(positive).epsilon(1e-3));
        DOCTEST_CHECK(std::abs(solved.bias.item<double>()) < 1e-3);
    }
}

DOCTEST_TEST_CASE("baselines/linear_svm: no step about the solution lowers the objective") {
    const at::Tensor x = random_tensor({60, 4}, 1, at::kFloat).to(at::kDouble);
    std::vector<std::uint8_t> labels;
    LinearSvm svm(4);
    for (std::int64_t i = 0; i < 60; ++i) {
        const at::Tensor row = x[i].to(at::kFloat).contiguous();
        svm.add({row.const_data_ptr<float>(), 4});
        labels.push_back(x[i][0].item<double>() + 0.5 * x[i][1].item<double>() > 0.4 || i % 9 == 0 ? 1 : 0);
    }
    const auto solved = svm.train(labels, {.cost = 2, .positive_weight = 3, .tolerance = 1e-6});
    const double best = objective(x, labels, solved, 2, 3);
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        baselines::LinearScores moved{solved.weight + 0.02 * random_tensor({4}, seed),
                                      solved.bias + 0.02 * random_tensor({}, seed + 100)};
        DOCTEST_CHECK(objective(x, labels, moved, 2, 3) > best - 1e-4);
    }
    const auto again = svm.train(labels, {.cost = 2, .positive_weight = 3, .tolerance = 1e-6});
    DOCTEST_CHECK(identical(solved.weight, again.weight));
    DOCTEST_CHECK(svm.bytes() == 60 * 6 * 16);
}

DOCTEST_TEST_CASE("baselines/linear_svm: a label with one kind alone") {
    LinearSvm svm(2);
    svm.add(std::vector<float>{1, 2});
    svm.add(std::vector<float>{0, 3});
    DOCTEST_CHECK(svm.train(std::vector<std::uint8_t>{0, 0}, {}).bias.item<double>() == -1);
    DOCTEST_CHECK(svm.train(std::vector<std::uint8_t>{1, 1}, {}).bias.item<double>() == 1);
}

DOCTEST_TEST_CASE("baselines/ridge: the normal equations of standardised features, whatever the chunks") {
    const at::Tensor mixing = random_tensor({6, 6}, 1);
    const at::Tensor x = at::matmul(random_tensor({200, 6}, 2), mixing) + 3;
    const at::Tensor y = random_tensor({200, 2}, 3) + x.slice(1, 0, 2);
    baselines::Ridge ridge(6, 2);
    ridge.add(x.slice(0, 0, 70), y.slice(0, 0, 70));
    ridge.add(x.slice(0, 70), y.slice(0, 70));
    const at::Tensor mean = x.mean(0), deviation = x.std(0, false);
    const at::Tensor z = (x - mean) / deviation;
    for (const double penalty : {1e-6, 0.1, 10.0}) {
        const auto solved = ridge.solve(penalty);
        const at::Tensor normal = at::matmul(z.t(), z) + penalty * 200 * at::eye(6, at::kDouble);
        const at::Tensor beta = at::linalg_solve(normal, at::matmul(z.t(), y - y.mean(0)));
        const at::Tensor expected = at::matmul(z, beta) + y.mean(0);
        DOCTEST_CHECK(difference(at::linear(x, solved.weight, solved.bias), expected) < 1e-8);
    }
}

DOCTEST_TEST_CASE("baselines/ridge: a feature that does not vary has no weight") {
    at::Tensor x = random_tensor({50, 3}, 4);
    x.select(1, 1).fill_(0.1);
    baselines::Ridge ridge(3, 1);
    ridge.add(x, x.slice(1, 0, 1) * 2 + 1);
    const auto solved = ridge.solve(1e-9);
    DOCTEST_CHECK(solved.weight[0][1].item<double>() == 0);
    DOCTEST_CHECK(solved.weight[0][0].item<double>() == doctest::Approx(2));
    DOCTEST_CHECK(solved.bias[0].item<double>() == doctest::Approx(1));
}
