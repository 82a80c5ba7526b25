// SPDX-License-Identifier: Apache-2.0
#include "bigbird/baselines/window/deepromoter.hpp"

#include "support/testing.hpp"
#include "unit/baselines/window/pytorch_fixture.hpp"

using namespace bigbird;
using namespace bigbird::testing;

DOCTEST_TEST_CASE("baselines/deepromoter: PyTorch's logits from the same weights") {
    check_against_pytorch("deepromoter", *baselines::make_deepromoter(300, 1));
}

DOCTEST_TEST_CASE("baselines/deepromoter: dropout is of training alone and follows from the sample") {
    check_dropout("deepromoter", *baselines::make_deepromoter(300, 1));
}
