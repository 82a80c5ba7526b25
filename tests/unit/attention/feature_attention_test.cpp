// SPDX-License-Identifier: Apache-2.0
#include "bigbird/attention/feature_attention.hpp"

#include "support/tensors.hpp"
#include "support/testing.hpp"
#include "unit/attention/attention_cases.hpp"

#include "bigbird/attention/features/random_features.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/core/rng.hpp"

#include <ATen/autocast_mode.h>
#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <span>

using namespace bigbird;
using namespace bigbird::attention;
using namespace bigbird::testing;

namespace {

constexpr FeatureKernel kernels[] = {FeatureKernel::softmax, FeatureKernel::relu};

void append(const Json& nested, std::vector<double>& values) {
    if (!nested.is_array()) {
        values.push_back(nested.is_boolean() ? (nested.get<bool>() ? 1 : 0) : nested.get<double>());
        return;
    }
    for (const Json& item : nested)
        append(item, values);
}

at::Tensor tensor_of(const Json& nested) {
    std::vector<double> values;
    std::vector<std::int64_t> shape;
    append(nested, values);
    for (const Json* item = &nested; item->is_array(); item = &item->at(0))
        shape.push_back(std::ssize(*item));
    return at::tensor(at::ArrayRef<double>(values)).view(shape).clone();
}

at::Tensor drawn(const FeatureSpec& spec, std::int64_t head_dim) {
    return at::tensor(at::ArrayRef<double>(draw_features(spec, 0, head_dim))).view({-1, head_dim});
}

struct Inputs {
    at::Tensor q, k, v, mask;
};

/// Of two samples and heads; the last three keys of the second sample are padded.
Inputs inputs(std::int64_t length, std::int64_t head_dim, at::ScalarType type = at::kDouble,
              double scale = 1) {
    Inputs in{random_tensor({2, 2, length, head_dim}, 1) * scale,
              random_tensor({2, 2, length, head_dim}, 2) * scale, random_tensor({2, 2, length, head_dim}, 3),
              at::ones({2, length}, at::kBool)};
    in.mask[1].slice(0, length - 3).fill_(false);
    return {in.q.to(type), in.k.to(type), in.v.to(type), in.mask};
}

/// The slow twin: all features, a weight for every pair of a query and a key.
at::Tensor pair_by_pair(const Inputs& in, const at::Tensor& rows, FeatureKernel kernel) {
    const double scale = std::pow(static_cast<double>(in.q.size(3)), -0.25);
    const at::Tensor q = in.q * scale, k = in.k * scale;
    const at::Tensor real = in.mask.view({in.mask.size(0), 1, -1, 1});
    const auto exponents = [&](const at::Tensor& x) {
        return at::matmul(x, rows.t()) - x.square().sum(3, true) / 2;
    };
    at::Tensor of_q = at::relu(at::matmul(q, rows.t())), of_k = at::relu(at::matmul(k, rows.t()));
    const double root = std::sqrt(static_cast<double>(rows.size(0)));
    if (kernel == FeatureKernel::softmax) {
        const at::Tensor a = exponents(q), b = exponents(k).masked_fill(real.logical_not(), -1e300);
        of_q = ((a - a.amax({3}, true)).exp() + 1e-6) / root;
        of_k = ((b - b.amax({2, 3}, true)).exp() + 1e-6) / root;
    } else {
        of_q = of_q / root + 1e-3;
        of_k = of_k / root + 1e-3;
    }
    const at::Tensor weights = at::matmul(of_q, (of_k * real).transpose(2, 3));  // (batch, heads, n, n)
    return at::matmul(weights / weights.sum(3, true), in.v);
}

at::Tensor attend(const Inputs& in, const at::Tensor& rows, FeatureKernel kernel) {
    return feature_attention(in.q, in.k, in.v, in.mask, rows, kernel);
}

}  // namespace

DOCTEST_TEST_CASE("feature_attention: equals the paper's formulas, key by key in NumPy") {
    const Json fixture = bigbird::read_json(test_data("attention/performer.json"));
    DOCTEST_REQUIRE(fixture["cases"].size() == 4);
    for (const Json& one : fixture["cases"]) {
        const auto kernel =
            bigbird::parse_choice(feature_kernels, "kernel", one["kernel"].get<std::string>());
        const Inputs in{tensor_of(one["q"]), tensor_of(one["k"]), tensor_of(one["v"]),
                        tensor_of(one["mask"]).to(at::kBool)};
        DOCTEST_CHECK(difference(attend(in, tensor_of(one["features"]), kernel), tensor_of(one["context"])) <
                      1e-10);
    }
}

DOCTEST_TEST_CASE("feature_attention: equals its slow twin in every type, whatever the strides") {
    for (const FeatureKernel kernel : kernels) {
        const at::Tensor rows = drawn({.features = 40, .seed = 3}, 16);
        const Inputs in = inputs(37, 16);
        const at::Tensor exact = pair_by_pair(in, rows, kernel);
        DOCTEST_CHECK(difference(attend(in, rows, kernel), exact) < 1e-11);
        const auto strided = [](const at::Tensor& x) {
            return x.transpose(1, 2).contiguous().transpose(1, 2);
        };
        const Inputs turned{strided(in.q), strided(in.k), strided(in.v), in.mask};
        DOCTEST_CHECK(difference(attend(turned, rows, kernel), exact) < 1e-11);
        DOCTEST_CHECK(difference(attend(inputs(37, 16, at::kFloat), rows, kernel), exact) < 1e-5);
        const Inputs half = inputs(37, 16, at::kBFloat16);
        const at::Tensor found = attend(half, rows, kernel);
        DOCTEST_CHECK((found.scalar_type() == at::kBFloat16));
        // Of the rounded inputs; what is left is the rounding of the result.
        const Inputs rounded{half.q.to(at::kDouble), half.k.to(at::kDouble), half.v.to(at::kDouble), in.mask};
        DOCTEST_CHECK(difference(found, pair_by_pair(rounded, rows, kernel)) < 8e-3);
    }
}

DOCTEST_TEST_CASE("feature_attention: gradients are those of finite differences") {
    for (const FeatureKernel kernel : kernels) {
        const at::Tensor rows = drawn({.features = 12, .seed = 4}, 6);
        const Inputs in = inputs(7, 6);
        const at::Tensor direction = random_tensor(in.v.sizes(), 9);
        // softmax: the largest exponent counts as a constant; through the epsilon it moves the result.
        check_gradients({in.q, in.k, in.v}, 3, kernel == FeatureKernel::softmax ? 1e-4 : 1e-7,
                        [&] { return (attend(in, rows, kernel) * direction).sum(); });
        DOCTEST_CHECK(in.k.grad()[1].slice(1, 4).abs().max().item<double>() == 0);  // padded
    }
}

DOCTEST_TEST_CASE("feature_attention: padded keys count as absent, whatever they hold") {
    for (const FeatureKernel kernel : kernels) {
        const at::Tensor rows = drawn({.features = 30, .seed = 5}, 8);
        for (const at::ScalarType type : {at::kDouble, at::kFloat}) {
            Inputs in = inputs(24, 8, type);
            in.mask.fill_(true);
            const at::Tensor alone = attend(in, rows, kernel);
            const auto padded = [](const at::Tensor& x, double value) {
                return at::constant_pad_nd(x, {0, 0, 0, 8}, value);
            };
            for (const double garbage : {0.0, 3.0, 1e4}) {
                const Inputs longer{padded(in.q, garbage), padded(in.k, garbage), padded(in.v, garbage),
                                    at::constant_pad_nd(in.mask, {0, 8})};
                const at::Tensor found = attend(longer, rows, kernel);
                DOCTEST_CHECK(at::isfinite(found).all().item<bool>());
                DOCTEST_CHECK(difference(found.narrow(2, 0, 24), alone) <
                              (type == at::kDouble ? 1e-12 : 1e-5));
            }
        }
        Inputs none = inputs(8, 8);
        none.mask.fill_(false);
        DOCTEST_CHECK(attend(none, rows, kernel).abs().max().item<double>() == 0);
    }
}

DOCTEST_TEST_CASE("feature_attention: long inputs of large norms stay finite, forward and backward") {
    for (const FeatureKernel kernel : kernels) {
        const at::Tensor rows = drawn({.features = 64, .seed = 6}, 32);
        for (const at::ScalarType type : {at::kFloat, at::kBFloat16}) {
            for (const double scale : {1.0, 30.0, 1000.0}) {
                const Inputs in = inputs(2048, 32, type, scale);
                for (const at::Tensor& x : {in.q, in.k, in.v})
                    at::Tensor(x).set_requires_grad(true);
                const at::Tensor out = attend(in, rows, kernel);
                torch::autograd::backward({out.to(at::kFloat).square().sum()}, {});
                DOCTEST_CHECK(at::isfinite(out).all().item<bool>());
                // A mean of values with positive weights lies among them.
                DOCTEST_CHECK(out.abs().max().item<double>() <= 1.01 * in.v.abs().max().item<double>());
                for (const at::Tensor& x : {in.q, in.k, in.v})
                    DOCTEST_CHECK(at::isfinite(x.grad()).all().item<bool>());
            }
        }
    }
}

DOCTEST_TEST_CASE(
    "feature_attention: tends to softmax attention with more features, sooner if they are orthogonal") {
    const Inputs in = inputs(48, 16, at::kDouble, 0.5);
    const at::Tensor bias =
        at::zeros({2, 1, 1, 48}, at::kDouble).masked_fill(in.mask.view({2, 1, 1, 48}).logical_not(), -1e9);
    const at::Tensor scores = at::matmul(in.q, in.k.transpose(2, 3)) / 4.0 + bias;
    const at::Tensor exact = at::matmul(at::softmax(scores, 3), in.v);
    const auto error = [&](std::int64_t features, bool orthogonal) {
        double sum = 0;
        FeatureSpec spec{.features = features, .orthogonal = orthogonal, .seed = 7};
        for (spec.redraw = 0; spec.redraw < 20; ++spec.redraw)
            sum +=
                (attend(in, drawn(spec, 16), FeatureKernel::softmax) - exact).square().mean().item<double>();
        return std::sqrt(sum / 20);
    };
    double last = 1e9;
    for (const std::int64_t features : {16, 64, 256, 1024}) {
        const double found = error(features, true);
        DOCTEST_CHECK(found < 0.75 * last);
        DOCTEST_CHECK(found < error(features, false));
        last = found;
    }
    DOCTEST_CHECK(last < 0.02);  // the deviation of values is 1
}

DOCTEST_TEST_CASE("feature_attention: autocast leaves features and sums as wide as the inputs are") {
    const at::Tensor rows = drawn({.features = 40, .seed = 3}, 16);
    const Inputs in = inputs(37, 16, at::kFloat);
    const at::Tensor expected = attend(in, rows, FeatureKernel::softmax);
    at::autocast::set_autocast_enabled(at::kCPU, true);
    const at::Tensor found = attend(in, rows, FeatureKernel::softmax);
    at::autocast::set_autocast_enabled(at::kCPU, false);
    DOCTEST_CHECK(identical(found, expected));
}

namespace {

/// The largest single allocation of this thread.
class LargestAllocation : public c10::MemoryReportingInfoBase {
public:
    void reportMemoryUsage(void*, std::int64_t size, std::size_t, std::size_t, c10::Device) override {
        bytes = std::max(bytes, size);
    }
    bool memoryProfilingEnabled() const override { return true; }
    std::int64_t bytes = 0;
};

}  // namespace

DOCTEST_TEST_CASE("feature_attention: 16,384 tokens, and no tensor of their square") {
    const std::int64_t length = 16'384, features = 32;
    const at::Tensor rows = drawn({.features = features, .seed = 8}, 16);
    const Inputs in = inputs(length, 16, at::kFloat);
    const auto largest = std::make_shared<LargestAllocation>();
    for (const at::Tensor& x : {in.q, in.k, in.v})
        at::Tensor(x).set_requires_grad(true);
    {
        const c10::DebugInfoGuard guard(c10::DebugInfoKind::PROFILER_STATE, largest);
        torch::autograd::backward({attend(in, rows, FeatureKernel::softmax).square().sum()}, {});
    }
    DOCTEST_CHECK(largest->bytes >= 2 * 2 * length * features * 4);  // features of all queries
    DOCTEST_CHECK(largest->bytes < 2 * 2 * length * features * 4 * 2);
}

DOCTEST_TEST_CASE("feature_attention: a draw is kept until another is asked for, layer by layer") {
    FeatureCache cache({.features = 8, .seed = 1}, 4);
    const at::Tensor first = cache.get(0, 0, at::kCPU);
    DOCTEST_CHECK(first.sizes() == at::IntArrayRef({8, 4}));
    DOCTEST_CHECK(cache.get(0, 0, at::kCPU).is_same(first));
    const at::Tensor other = cache.get(0, 1, at::kCPU), redrawn = cache.get(1, 0, at::kCPU);
    DOCTEST_CHECK_FALSE(at::equal(other, first));
    DOCTEST_CHECK_FALSE(at::equal(redrawn, first));
    DOCTEST_CHECK(cache.get(0, 1, at::kCPU).is_same(other));  // the other layer has kept its own
    DOCTEST_CHECK(identical(cache.get(0, 0, at::kCPU), first));
    DOCTEST_CHECK(identical(first, drawn({.features = 8, .seed = 1}, 4)));
}

namespace {

using Vector = std::vector<double>;

double dot(std::span<const double> a, std::span<const double> b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

std::span<const double> row_of(const Vector& rows, std::size_t row, std::size_t width) {
    return std::span(rows).subspan(row * width, width);
}

/// The paper's estimate of exp(q.k): the mean over rows of exp(w.q - |q|^2 / 2) exp(w.k - |k|^2 / 2).
double estimate(const Vector& rows, const Vector& q, const Vector& k) {
    const std::size_t width = q.size(), count = rows.size() / width;
    double sum = 0;
    for (std::size_t row = 0; row < count; ++row) {
        const auto w = row_of(rows, row, width);
        sum += std::exp(dot(w, q) + dot(w, k) - (dot(q, q) + dot(k, k)) / 2);
    }
    return sum / static_cast<double>(count);
}

struct EstimateError {
    double bias, root_mean_square;
};

/// Of the mean of `draws` draws against exp(q.k), relative to it, over `trials` such means.
EstimateError error_of(FeatureSpec spec, int draws, int trials) {
    const Vector q{0.5, -0.3, 0.2, 0.6, -0.1, 0.4, 0.1, -0.2}, k{0.4, 0.1, -0.5, 0.3, 0.2, 0.3, -0.4, 0.1};
    const double exact = std::exp(dot(q, k));
    double sum = 0, squares = 0;
    for (int trial = 0; trial < trials; ++trial) {
        double mean = 0;
        for (int draw = 0; draw < draws; ++draw, ++spec.redraw)
            mean += estimate(draw_features(spec, 0, 8), q, k) / draws;
        sum += mean / exact - 1;
        squares += (mean / exact - 1) * (mean / exact - 1);
    }
    return {sum / trials, std::sqrt(squares / trials)};
}

}  // namespace

DOCTEST_TEST_CASE(
    "random_features: orthogonal rows stand at right angles, block by block, and are as long as Gaussian "
    "ones") {
    const std::size_t width = 16;
    const FeatureSpec spec{.features = 1000, .seed = 3};  // the last block is cut
    const Vector rows = draw_features(spec, 1, width);
    DOCTEST_REQUIRE(rows.size() == 1000 * width);
    double worst = 0, squares = 0;
    for (std::size_t i = 0; i < 1000; ++i) {
        squares += dot(row_of(rows, i, width), row_of(rows, i, width));
        for (std::size_t j = i / width * width; j < i; ++j)
            worst = std::max(worst, std::abs(dot(row_of(rows, i, width), row_of(rows, j, width))));
    }
    DOCTEST_CHECK(worst < 1e-12);
    // |w|^2 has the mean 16 and the deviation sqrt(32), that of 1000 rows a thirtieth.
    DOCTEST_CHECK(std::abs(squares / 1000 - 16) < 4 * std::sqrt(32.0 / 1000));
    DOCTEST_CHECK(squares / 1000 != 16);  // lengths are drawn
}

DOCTEST_TEST_CASE("random_features: numbers of both kinds are standard normal") {
    for (const bool orthogonal : {true, false}) {
        const Vector rows = draw_features({.features = 4096, .orthogonal = orthogonal, .seed = 1}, 0, 8);
        const auto count = static_cast<double>(rows.size());
        double mean = 0, square = 0, fourth = 0;
        for (const double x : rows) {
            mean += x / count;
            square += x * x / count;
            fourth += x * x * x * x / count;
        }
        DOCTEST_CHECK(std::abs(mean) < 4 / std::sqrt(count));
        DOCTEST_CHECK(std::abs(square - 1) < 4 * std::sqrt(2 / count));
        DOCTEST_CHECK(std::abs(fourth - 3) < 4 * std::sqrt(96 / count));
    }
}

DOCTEST_TEST_CASE(
    "random_features: a draw follows from seed, layer and its number, and fewer features are the first of "
    "more") {
    const FeatureSpec spec{.features = 24, .seed = 5};
    const Vector drawn = draw_features(spec, 2, 8);
    DOCTEST_CHECK(draw_features(spec, 2, 8) == drawn);
    DOCTEST_CHECK(draw_features(spec, 3, 8) != drawn);
    DOCTEST_CHECK(draw_features({.features = 24, .seed = 5, .redraw = 1}, 2, 8) != drawn);
    DOCTEST_CHECK(draw_features({.features = 24, .seed = 6}, 2, 8) != drawn);
    const FeatureSpec by_relu{.features = 24, .kernel = FeatureKernel::relu, .redraw_every = 7, .seed = 5};
    DOCTEST_CHECK(draw_features(by_relu, 2, 8) == drawn);
    const Vector fewer = draw_features({.features = 13, .seed = 5}, 2, 8);
    DOCTEST_CHECK(std::equal(fewer.begin(), fewer.end(), drawn.begin()));
}

DOCTEST_TEST_CASE("random_features: the numbers that files of models mean, as docs/transformers draws them") {
    const FeatureSpec spec{.features = 3, .seed = 7, .redraw = 4};
    const Vector expected{-0.6180274390531065, -0.6645382265156955,  -0.22592492093198513,
                          0.21011251833316852, -0.19891196168046962, -0.04662833110219811};
    const Vector drawn = draw_features(spec, 1, 2);
    DOCTEST_REQUIRE(drawn.size() == expected.size());
    for (std::size_t i = 0; i < drawn.size(); ++i)
        DOCTEST_CHECK(drawn[i] == doctest::Approx(expected[i]).epsilon(1e-12));
}

DOCTEST_TEST_CASE("random_features: the mean over draws tends to exp(q.k) like 1 / sqrt(draws)") {
    for (const bool orthogonal : {true, false}) {
        const FeatureSpec spec{.features = 8, .orthogonal = orthogonal, .seed = 11};
        const EstimateError one = error_of(spec, 1, 2000), many = error_of(spec, 16, 500);
        DOCTEST_CHECK(std::abs(one.bias) < 4 * one.root_mean_square / std::sqrt(2000.0));
        DOCTEST_CHECK(std::abs(many.bias) < 4 * many.root_mean_square / std::sqrt(500.0));
        DOCTEST_CHECK(one.root_mean_square / many.root_mean_square == doctest::Approx(4).epsilon(0.2));
    }
}

DOCTEST_TEST_CASE("random_features: steps of pretraining and their draws") {
    FeatureSpec spec{.redraw_every = 3};
    std::vector<std::int64_t> draws;
    for (std::int64_t step = 1; step <= 7; ++step)
        draws.push_back(spec.redraw_at(step));
    DOCTEST_CHECK(draws == std::vector<std::int64_t>{0, 0, 0, 1, 1, 1, 2});
    spec.redraw = 5;  // where a run goes on with the features of another's end
    DOCTEST_CHECK(spec.redraw_at(4) == 6);
    spec.redraw_every = 0;
    DOCTEST_CHECK(spec.redraw_at(1'000'000) == 5);
}

DOCTEST_TEST_CASE("random_features: what does not fit is named") {
    const auto message = [](const FeatureSpec& spec) {
        return message_of<ConfigError>([&] { spec.validate(); });
    };
    DOCTEST_CHECK(message({.features = 0}) == "performer: features must be between 1 and 65536, not 0");
    DOCTEST_CHECK(message({.features = 65537}) ==
                  "performer: features must be between 1 and 65536, not 65537");
    DOCTEST_CHECK(message({.redraw_every = -1}) == "performer: redraw_every must not be negative: -1");
    DOCTEST_CHECK(message({.redraw = -2}) == "performer: redraw must not be negative: -2");
    DOCTEST_CHECK_NOTHROW(FeatureSpec{}.validate());
}
