// SPDX-License-Identifier: Apache-2.0
#include "bigbird/baselines/window/architecture.hpp"

#include "support/tensors.hpp"
#include "support/testing.hpp"
#include "unit/baselines/window/pytorch_fixture.hpp"

#include "bigbird/baselines/window/base_codes.hpp"
#include "bigbird/core/error.hpp"

#include <ATen/ATen.h>

#include <cmath>

using namespace bigbird;
using namespace bigbird::testing;

DOCTEST_TEST_CASE("baselines/architecture: the shortest windows work, shorter ones are refused") {
    for (const auto& [name, shortest] :
         {std::pair{"cnnprom", 21}, std::pair{"deepromoter", 6}, std::pair{"deepsea", 163}}) {
        DOCTEST_CAPTURE(name);
        const auto network = baselines::make_network(name, shortest, 3, 1);
        const at::Tensor logits = network->forward(at::zeros({2, shortest}, at::kLong), {});
        DOCTEST_CHECK(logits.sizes() == at::IntArrayRef({2, 3}));
        DOCTEST_CHECK(message_of<ConfigError>([&] {
                          baselines::make_network(name, shortest - 1, 3, 1);
                      }).find("needs at least " + std::to_string(shortest)) != std::string::npos);
    }
}

DOCTEST_TEST_CASE("baselines/cnnprom: PyTorch's logits from the same weights") {
    check_against_pytorch("cnnprom", *baselines::make_cnnprom(251, 1));
}

DOCTEST_TEST_CASE("baselines/deepromoter: PyTorch's logits from the same weights") {
    check_against_pytorch("deepromoter", *baselines::make_deepromoter(300, 1));
}

DOCTEST_TEST_CASE("baselines/deepromoter: dropout is of training alone and follows from the sample") {
    check_dropout("deepromoter", *baselines::make_deepromoter(300, 1));
}

DOCTEST_TEST_CASE("baselines/deepsea_cnn: PyTorch's logits from the same weights") {
    check_against_pytorch("deepsea", *baselines::make_deepsea(1000, 4));
}

DOCTEST_TEST_CASE("baselines/deepsea_cnn: dropout is of training alone and follows from the sample") {
    check_dropout("deepsea", *baselines::make_deepsea(1000, 4));
}

DOCTEST_TEST_CASE("baselines/uniform_initialisation: fills the range of each layer, by seed and name") {
    const auto first = baselines::make_deepromoter(300, 2), again = baselines::make_deepromoter(300, 2),
               other = baselines::make_deepromoter(300, 2);
    baselines::initialise_uniformly(*first, 1);
    baselines::initialise_uniformly(*again, 1);
    baselines::initialise_uniformly(*other, 2);
    const auto check = [&](const std::string& name, double inputs) {
        DOCTEST_CAPTURE(name);
        const at::Tensor values = first->named_parameters()[name].detach();
        const double bound = 1 / std::sqrt(inputs);
        DOCTEST_CHECK(values.abs().max().item<double>() <= bound);
        DOCTEST_CHECK(values.abs().max().item<double>() > 0.9 * bound);
        DOCTEST_CHECK(std::abs(values.mean().item<double>()) < 0.3 * bound);
        DOCTEST_CHECK(identical(values, again->named_parameters()[name].detach()));
        DOCTEST_CHECK_FALSE(identical(values, other->named_parameters()[name].detach()));
    };
    check("convolution27.weight", 4 * 27);
    check("convolution27.bias", 4 * 27);
    check("lstm.weight_hh_l0", 32);
    check("lstm.bias_ih_l0_reverse", 32);
    check("dense.weight", 3200);
    check("dense.bias", 3200);
}

DOCTEST_TEST_CASE("baselines/base_codes: letters, and a row a base") {
    const auto codes = baselines::base_codes("ACGTN");
    DOCTEST_CHECK(codes == std::vector<std::int32_t>{0, 1, 2, 3, 4});
    const at::Tensor hot = baselines::one_hot_bases(at::tensor(codes, at::kLong).unsqueeze(0));
    DOCTEST_REQUIRE(hot.sizes() == at::IntArrayRef({1, 4, 5}));
    DOCTEST_CHECK(at::equal(hot[0].slice(1, 0, 4), at::eye(4)));
    DOCTEST_CHECK(hot[0].select(1, 4).abs().sum().item<float>() == 0);
}
