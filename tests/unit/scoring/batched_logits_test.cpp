// SPDX-License-Identifier: Apache-2.0
#include "bigbird/scoring/batched_logits.hpp"

#include "scoring/tiny_task.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/rng.hpp"

#include <torch/nn.h>

using namespace bigbird;
using namespace bigbird::testing;
using scoring::batched_logits;
using scoring::Pooling;

namespace {

std::vector<model::TokenSequence> random_sequences(std::int64_t count) {
    Rng rng(3);
    std::vector<model::TokenSequence> sequences(static_cast<std::size_t>(count));
    for (model::TokenSequence& sequence : sequences) {
        sequence.ids.resize(static_cast<std::size_t>(rng.between(3, 300)));
        for (std::int32_t& id : sequence.ids) {
            id = static_cast<std::int32_t>(rng.between(5, 511));
        }
    }
    return sequences;
}

}  // namespace

DOCTEST_TEST_CASE("scoring/batched_logits: a sequence's logits do not depend on the batch") {
    auto network = tiny_network(tiny_config(3), 1);
    const auto sequences = random_sequences(40);
    for (const Pooling pooling : {Pooling::cls, Pooling::mean}) {
        const at::Tensor together = batched_logits(network, pooling, sequences, at::kCPU, 1 << 20);
        DOCTEST_REQUIRE(together.sizes() == at::IntArrayRef({40, 3}));
        DOCTEST_CHECK(together.std().item<double>() > 0.01);
        std::int64_t told = 0;
        const at::Tensor alone = batched_logits(network, pooling, sequences, at::kCPU, 1,
                                                [&](std::int64_t windows) { told += windows; });
        DOCTEST_CHECK(told == 40);
        DOCTEST_CHECK((together - alone).abs().max().item<double>() < 1e-5);
    }
}

DOCTEST_TEST_CASE("scoring/batched_logits: mean pooling leaves padding out") {
    auto network = tiny_network(tiny_config(2), 2);
    const auto sequences = random_sequences(1);
    const torch::NoGradGuard no_gradients;
    const auto input = model::make_input(sequences, network->config(), at::kCPU);
    const auto length = static_cast<std::int64_t>(sequences[0].ids.size());
    const at::Tensor hidden = network->encode(input).hidden.slice(1, 0, length);  // (1, tokens, hidden)
    const at::Tensor expected = network->predict(hidden.mean(1, true));
    const at::Tensor logits = scoring::pooled_logits(network, input, Pooling::mean);
    DOCTEST_CHECK(at::allclose(logits, expected, 1e-5, 1e-6));
    DOCTEST_CHECK_FALSE(
        at::allclose(logits, scoring::pooled_logits(network, input, Pooling::cls), 1e-3, 1e-3));
}

DOCTEST_TEST_CASE("scoring/batched_logits: the words of --pooling") {
    DOCTEST_CHECK(scoring::parse_pooling("mean") == Pooling::mean);
    DOCTEST_CHECK(scoring::to_string(Pooling::cls) == "cls");
    DOCTEST_CHECK(message_of<ConfigError>([] { scoring::parse_pooling("max"); }) ==
                  "--pooling is cls or mean, not 'max'");
}
