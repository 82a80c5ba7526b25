// SPDX-License-Identifier: Apache-2.0
#include "bigbird/baselines/window/architecture.hpp"

#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

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
