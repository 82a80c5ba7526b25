// SPDX-License-Identifier: Apache-2.0
#include "bigbird/baselines/deepsea_cnn.hpp"

#include "baselines/pytorch_fixture.hpp"
#include "support/tensors.hpp"
#include "support/testing.hpp"

#include "bigbird/baselines/uniform_initialisation.hpp"

using namespace bigbird;
using namespace bigbird::testing;

DOCTEST_TEST_CASE("baselines/deepsea_cnn: PyTorch's logits from the same weights") {
    check_against_pytorch("deepsea", *baselines::make_deepsea(1000, 4));
}

DOCTEST_TEST_CASE("baselines/deepsea_cnn: dropout is of training alone and follows from the sample") {
    const auto network = baselines::make_deepsea(1000, 4);
    baselines::initialise_uniformly(*network, 1);
    const torch::NoGradGuard no_gradients;
    const at::Tensor bases = fixture_bases("deepsea");
    const model::DropoutKey key{.seed = 1, .step = 2, .samples = {7, 8, 9}};
    network->eval();
    const at::Tensor still = network->forward(bases, key);
    network->train();
    const at::Tensor dropped = network->forward(bases, key);
    DOCTEST_CHECK(difference(still, dropped) > 1e-4);
    const at::Tensor last = network->forward(bases.slice(0, 2), {.seed = 1, .step = 2, .samples = {9}});
    DOCTEST_CHECK(difference(last, dropped.slice(0, 2)) < 1e-5);
}
