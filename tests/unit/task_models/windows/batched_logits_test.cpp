// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/windows/batched_logits.hpp"

#include "support/testing.hpp"
#include "unit/task_models/tiny_task.hpp"

#include "bigbird/core/rng.hpp"

using namespace bigbird;
using namespace bigbird::testing;
using task_models::batched_logits;
using task_models::Pooling;

namespace {

std::vector<task_models::EncodedWindow> random_windows(const task_models::WindowNetwork& network,
                                                       std::int64_t count) {
    Rng rng(3);
    std::vector<task_models::EncodedWindow> windows;
    for (std::int64_t i = 0; i < count; ++i) {
        windows.push_back(
            network.encode(random_dna(rng.between(20, 900), static_cast<std::uint64_t>(i)), i % 2 == 1));
    }
    return windows;
}

}  // namespace

DOCTEST_TEST_CASE("scoring/batched_logits: a window's logits do not depend on the batch") {
    for (const Pooling pooling : {Pooling::cls, Pooling::mean, Pooling::centre}) {
        const auto network = tiny_windows(tiny_config(3), 1, {.pooling = pooling, .window = {-400, 500}});
        const auto windows = random_windows(*network, 40);
        const at::Tensor together = batched_logits(*network, windows, 1 << 20);
        DOCTEST_REQUIRE(together.sizes() == at::IntArrayRef({40, 3}));
        DOCTEST_CHECK(together.std().item<double>() > 0.01);
        std::int64_t told = 0;
        const at::Tensor alone =
            batched_logits(*network, windows, 1, [&](std::int64_t some) { told += some; });
        DOCTEST_CHECK(told == 40);
        DOCTEST_CHECK((together - alone).abs().max().item<double>() < 1e-5);
    }
}
