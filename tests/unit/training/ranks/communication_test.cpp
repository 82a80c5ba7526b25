// SPDX-License-Identifier: Apache-2.0
#include "bigbird/training/ranks/communication.hpp"

#include "support/environment.hpp"
#include "support/testing.hpp"

using namespace bigbird;

DOCTEST_TEST_CASE("communication: Gloo is there, but not over an interface that does not exist") {
    DOCTEST_CHECK(training::gloo_obstacle().empty());
    const testing::Environment interface("GLOO_SOCKET_IFNAME", "no-such-interface");
    DOCTEST_CHECK_FALSE(training::gloo_obstacle().empty());
}

DOCTEST_TEST_CASE("communication: NCCL needs the plugin and all that it needs") {
    DOCTEST_CHECK(training::nccl_facts("/nonexistent/bigbird-nccl.so")
                      .obstacle.starts_with("/nonexistent/bigbird-nccl.so is not there: "));
    const auto plugin = program_file("bigbird-nccl.so");
    if (std::filesystem::exists(plugin)) {
        const training::NcclFacts facts = training::nccl_facts();
        DOCTEST_CHECK(facts.obstacle.empty() != facts.version.empty());
    }
}
