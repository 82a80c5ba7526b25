// SPDX-License-Identifier: Apache-2.0
#include "bigbird/pretraining/masked/cost.hpp"

#include "support/testing.hpp"

#include "bigbird/attention/pattern/pattern.hpp"
#include "bigbird/model/bigbird.hpp"

#include <algorithm>

using namespace bigbird;
using namespace bigbird::pretraining;

DOCTEST_TEST_CASE("cost: parameters are those of the network") {
    for (const std::string name : {"tiny", "tiny-modern", "gated", "small", "base-etc"}) {
        model::BigBirdConfig config = model::preset(name == "gated" ? "tiny-modern" : name);
        if (name == "gated") config.form.feed_forward = model::FeedForward::gated;
        config.vocab_size = 1000;
        config.num_hidden_layers = std::min<std::int64_t>(config.num_hidden_layers, 4);
        const model::PreTrainingModel network(config);
        std::int64_t parameters = 0;
        for (const at::Tensor& parameter : network->parameters())
            parameters += parameter.numel();
        DOCTEST_CHECK(parameter_count(config) == parameters);
        DOCTEST_CHECK(state_bytes(config) == 16 * parameters);
    }
    DOCTEST_CHECK(parameter_count(model::preset("base")) == 113'995'522);
}

DOCTEST_TEST_CASE("cost: keys a query attends are those of the layout, but for the overlaps at the ends") {
    const model::BigBirdConfig config = model::preset("base");
    DOCTEST_CHECK(attended_keys(config, 8) == 512);  // full
    const attention::BlockLayout layout = attention::make_layout(config.pattern, 64, 0, 0);
    const double listed = static_cast<double>(layout.columns.size()) / 64 * 64;
    DOCTEST_CHECK(attended_keys(config, 64) == doctest::Approx(listed).epsilon(0.02));
}

DOCTEST_TEST_CASE(
    "cost: a Performer's operations and memory grow with its features and not with the square of the "
    "length") {
    model::BigBirdConfig config = model::preset("base");
    config.performer = {.features = 256};
    DOCTEST_CHECK(attended_keys(config, 8) == 512);
    DOCTEST_CHECK(attended_keys(config, 4096) == 512);
    model::BigBirdConfig more = config;
    more.performer->features = 512;
    const MemoryLoad load{.sequences = 2, .length = 1024};
    const double layers = 12, tokens = 2 * 1024, two_features = 2 * 12 * 256 * 4, slack = 1.25;
    DOCTEST_CHECK(memory_needed(more, load).activations - memory_needed(config, load).activations ==
                  doctest::Approx(layers * tokens * two_features * slack));
}

DOCTEST_TEST_CASE("cost: operations of the paper's network") {
    const model::BigBirdConfig config = model::preset("base");
    // bigbird.md's arithmetic: 12 layers of 24 h^2 a token, 8 blocks of keys, the head on 15 % of the tokens.
    const double token = forward_operations(config, 64, 4096, 614) / 4096;
    DOCTEST_CHECK(token == doctest::Approx(12 * (24 * 768.0 * 768 + 4 * 768 * 626) + 7.4e6).epsilon(0.02));
}

DOCTEST_TEST_CASE("cost: extra global tokens are computed like others, but not predicted") {
    const model::BigBirdConfig etc = model::preset("base-etc");
    model::BigBirdConfig plain = etc;
    plain.extra_global_tokens = 0;  // the same pattern; its global blocks are tokens of the sequence
    DOCTEST_REQUIRE(etc.front_tokens() == 4 * 84);
    DOCTEST_CHECK(forward_operations(etc, 45, 45 * 84, 500) ==
                  doctest::Approx(forward_operations(plain, 49, 49 * 84, 500)));
    const MemoryLoad shorter{.sequences = 2, .length = 45 * 84, .masked_share = 0.15 * 49 / 45},
        longer{.sequences = 2, .length = 49 * 84};
    DOCTEST_CHECK(memory_needed(etc, shorter).activations ==
                  doctest::Approx(memory_needed(plain, longer).activations));
    DOCTEST_CHECK(parameter_count(etc) == parameter_count(plain) + 256 * 768);
}

DOCTEST_TEST_CASE("cost: memory grows with what is computed at once, and falls by recomputing") {
    model::BigBirdConfig config = model::preset("small");
    config.vocab_size = 4096;
    const MemoryLoad load{.sequences = 8, .length = 1024};
    const double whole = memory_needed(config, load).total();
    // Measured: docs/performance.md.
    DOCTEST_CHECK(whole == doctest::Approx(1.055e9).epsilon(0.15));
    MemoryLoad other = load;
    other.recompute = true;
    DOCTEST_CHECK(memory_needed(config, other).total() == doctest::Approx(0.458e9).epsilon(0.15));
    other = load;
    other.bf16 = true;
    DOCTEST_CHECK(memory_needed(config, other).total() == doctest::Approx(0.821e9).epsilon(0.15));
    other = load;
    other.sequences = 2;
    DOCTEST_CHECK(memory_needed(config, other).total() < 0.6 * whole);
    other = load;
    other.several_ranks = true;
    DOCTEST_CHECK(memory_needed(config, other).total() ==
                  doctest::Approx(whole + 4.0 * static_cast<double>(parameter_count(config))));
    other = load;
    other.on_cpu = false;
    DOCTEST_CHECK(memory_needed(config, other).program == 0);
}

DOCTEST_TEST_CASE("cost: a Longformer's keys and parameters") {
    model::BigBirdConfig config = model::preset("tiny");
    config.longformer =
        model::LongformerForm{.windows = {128, 256}, .dilations = {{1, 1}, {1, 2}}, .global_tokens = 1};
    model::PreTrainingModel network(config);
    std::int64_t parameters = 0;
    for (const at::Tensor& parameter : network->parameters())
        parameters += parameter.numel();
    DOCTEST_CHECK(parameter_count(config) == parameters);
    double pairs = 0;
    for (const auto& [layer, head] : {std::pair(0, 0), std::pair(0, 1), std::pair(1, 0), std::pair(1, 1)}) {
        const attention::BlockLayout layout =
            attention::windows_behind_front(config.longformer->window(layer, head, 64), 1, 64);
        pairs += static_cast<double>(layout.columns.size()) - 1;  // of the row in front
    }
    DOCTEST_CHECK(attended_keys(config, 64) == doctest::Approx(pairs / 4 / 64 * 64 + 1).epsilon(0.03));
    DOCTEST_CHECK(attended_keys(config, 1024) == attended_keys(config, 64));
    const MemoryLoad once{.sequences = 1, .length = 1024}, twice{.sequences = 1, .length = 2048};
    DOCTEST_CHECK(memory_needed(config, twice).activations < 2.01 * memory_needed(config, once).activations);
}
