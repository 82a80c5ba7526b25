// SPDX-License-Identifier: Apache-2.0
#include "bigbird/baselines/window/architecture.hpp"

#include "bigbird/baselines/window/cnnprom.hpp"
#include "bigbird/baselines/window/deepromoter.hpp"
#include "bigbird/baselines/window/deepsea_cnn.hpp"
#include "bigbird/baselines/window/uniform_initialisation.hpp"
#include "bigbird/core/check.hpp"
#include "bigbird/core/error.hpp"

namespace bigbird::baselines {

namespace {

BaseNetwork untrained(const std::string& name, std::int64_t length, std::int64_t labels) {
    if (name == "cnnprom") return make_cnnprom(length, labels);
    if (name == "deepromoter") return make_deepromoter(length, labels);
    BIGBIRD_EXPECTS(name == "deepsea", "no network: " + name);
    return make_deepsea(length, labels);
}

}  // namespace

BaseNetwork make_network(const std::string& name, std::int64_t length, std::int64_t labels,
                         std::uint64_t seed) {
    if (length < shortest_window(name)) {
        throw ConfigError("--window has " + std::to_string(length) + " bases, --architecture " + name +
                          " needs at least " + std::to_string(shortest_window(name)));
    }
    BaseNetwork network = untrained(name, length, labels);
    initialise_uniformly(*network, seed);
    return network;
}

}  // namespace bigbird::baselines
