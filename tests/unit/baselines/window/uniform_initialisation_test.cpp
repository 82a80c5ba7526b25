// SPDX-License-Identifier: Apache-2.0
#include "bigbird/baselines/window/uniform_initialisation.hpp"

#include "support/tensors.hpp"
#include "support/testing.hpp"

#include "bigbird/baselines/window/deepromoter.hpp"

#include <cmath>

using namespace bigbird;
using namespace bigbird::testing;

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
