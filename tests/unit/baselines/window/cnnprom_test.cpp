// SPDX-License-Identifier: Apache-2.0
#include "bigbird/baselines/window/cnnprom.hpp"

#include "support/testing.hpp"
#include "unit/baselines/window/pytorch_fixture.hpp"

using namespace bigbird;
using namespace bigbird::testing;

DOCTEST_TEST_CASE("baselines/cnnprom: PyTorch's logits from the same weights") {
    check_against_pytorch("cnnprom", *baselines::make_cnnprom(251, 1));
}
