// SPDX-License-Identifier: Apache-2.0
#include "bigbird/training/muon.hpp"

#include "support/tensors.hpp"
#include "support/testing.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

using namespace bigbird::training;
using bigbird::testing::difference;
using bigbird::testing::random_tensor;

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

struct SlowTwin {
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
        SlowTwin twin{matrix_of(value), matrix_of(momentum)};
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

DOCTEST_TEST_CASE("muon: a broken step changes nothing, even where the gradient is not finite") {
    at::Tensor value = random_tensor({4, 3}, 1), momentum = random_tensor({4, 3}, 2);
    const at::Tensor value_before = value.clone(), momentum_before = momentum.clone();
    at::Tensor gradient = random_tensor({4, 3}, 3);
    gradient[1][2] = std::numeric_limits<double>::quiet_NaN();
    muon_update(value, momentum, gradient, {.learning_rate = 1, .weight_decay = 0.1, .broken = truth(true)});
    DOCTEST_CHECK(at::equal(value, value_before));
    DOCTEST_CHECK(at::equal(momentum, momentum_before));
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
