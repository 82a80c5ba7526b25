// SPDX-License-Identifier: Apache-2.0
#include "bigbird/baselines/cnnprom.hpp"

#include "baselines/pytorch_fixture.hpp"
#include "support/testing.hpp"

using namespace bigbird;
using namespace bigbird::testing;

DOCTEST_TEST_CASE("baselines/cnnprom: PyTorch's logits from the same weights") {
    check_against_pytorch("cnnprom", *baselines::make_cnnprom(251, 1));
}
