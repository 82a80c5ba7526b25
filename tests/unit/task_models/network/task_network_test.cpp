// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/network/task_network.hpp"

#include "support/testing.hpp"
#include "unit/task_models/bin_examples.hpp"

#include "bigbird/core/rng.hpp"

using namespace bigbird;
using namespace bigbird::testing;
using task_models::batched_logits;
using task_models::Pooling;

namespace {

std::vector<task_models::EncodedWindow> random_windows(const task_models::TaskNetwork& network,
                                                       std::int64_t count) {
    Rng rng(3);
    std::vector<task_models::EncodedWindow> windows;
    for (std::int64_t i = 0; i < count; ++i) {
        windows.push_back(
            network.encode(random_dna(rng.between(20, 900), static_cast<std::uint64_t>(i)), i % 2 == 1));
    }
    return windows;
}

/// The usual size: two layers of 128, blocks of 64.
model::BigBirdConfig usual_config(const std::string& preset) {
    model::BigBirdConfig config = model::preset(preset);
    config.vocab_size = 512;
    config.num_labels = 5;
    return config;
}

std::shared_ptr<task_models::TaskNetwork> some_bins(model::BigBirdConfig config) {
    config.classifier_head = "bins";
    const bins::Grid grid{.bin = 20, .window_bins = 40, .margin_bins = 2};
    return task_models::bigbird_bins(tiny_network(config, 1), small_tokenizer(), grid, {});
}

}  // namespace

DOCTEST_TEST_CASE("task_network: a window's logits do not depend on the batch") {
    for (const Pooling pooling : {Pooling::cls, Pooling::mean, Pooling::centre}) {
        const auto network = tiny_windows(tiny_config(3), 1, {.pooling = pooling, .window = {-400, 500}});
        const auto windows = random_windows(*network, 40);
        const at::Tensor together = batched_logits(*network, windows, 1 << 20);
        DOCTEST_REQUIRE(together.sizes() == at::IntArrayRef({40, 1, 3}));
        DOCTEST_CHECK(together.std().item<double>() > 0.01);
        std::int64_t told = 0;
        const at::Tensor alone =
            batched_logits(*network, windows, 1, [&](std::int64_t some) { told += some; });
        DOCTEST_CHECK(told == 40);
        DOCTEST_CHECK((together - alone).abs().max().item<double>() < 1e-5);
    }
}

DOCTEST_TEST_CASE("task_network: a window's place among the windows changes no bit of its logits") {
    const std::vector<std::shared_ptr<task_models::TaskNetwork>> networks{
        tiny_windows(usual_config("tiny"), 1, {.pooling = Pooling::cls}),
        tiny_windows(usual_config("tiny-modern"), 1, {.pooling = Pooling::mean}),
        tiny_windows(usual_config("tiny"), 1, {.pooling = Pooling::centre, .window = {-400, 500}}),
        small_base_bins(1), some_bins(usual_config("tiny"))};
    for (const auto& network : networks) {
        DOCTEST_CAPTURE(&network - networks.data());
        std::vector<task_models::EncodedWindow> windows;
        const bool bases = !network->reads_tokens();
        for (std::uint64_t i = 0; i < 19; ++i) {
            const std::int64_t length = bases ? 160 : 800;
            std::string dna = random_dna(length, i);
            if (!bases) dna.replace(0, 40 * i, std::string(40 * i, 'N'));  // fewer tokens, fewer blocks
            windows.push_back(network->encode(dna, false));
        }
        const at::Tensor all = batched_logits(*network, windows, 1 << 20);
        for (const std::size_t first : {std::size_t{0}, std::size_t{3}, std::size_t{18}}) {
            for (const std::size_t count : {std::size_t{1}, std::size_t{2}, std::size_t{7}}) {
                const auto some = std::span(windows).subspan(first, std::min(count, windows.size() - first));
                DOCTEST_CHECK(at::equal(batched_logits(*network, some, 1 << 20),
                                        all.narrow(0, static_cast<std::int64_t>(first), std::ssize(some))));
            }
        }
        std::ranges::reverse(windows);
        DOCTEST_CHECK(at::equal(batched_logits(*network, windows, 1 << 20), all.flip(0)));
    }
}
