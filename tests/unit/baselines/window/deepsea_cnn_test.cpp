// SPDX-License-Identifier: Apache-2.0
#include "bigbird/baselines/window/deepsea_cnn.hpp"

#include "support/testing.hpp"
#include "unit/baselines/window/pytorch_fixture.hpp"

using namespace bigbird;
using namespace bigbird::testing;

DOCTEST_TEST_CASE("baselines/deepsea_cnn: PyTorch's logits from the same weights") {
    check_against_pytorch("deepsea", *baselines::make_deepsea(1000, 4));
}

DOCTEST_TEST_CASE("baselines/deepsea_cnn: dropout is of training alone and follows from the sample") {
    check_dropout("deepsea", *baselines::make_deepsea(1000, 4));
}
