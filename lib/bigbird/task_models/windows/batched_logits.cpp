// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/windows/batched_logits.hpp"

#include "bigbird/core/interrupt.hpp"
#include "bigbird/model/device/device.hpp"

#include <algorithm>
#include <iterator>
#include <optional>

namespace bigbird::task_models {

at::Tensor batched_logits(WindowNetwork& network, std::span<const EncodedWindow> windows,
                          std::int64_t batch_tokens, const std::function<void(std::int64_t)>& after_batch) {
    const at::NoGradGuard no_gradients;
    network.module().eval();
    at::Tensor logits = at::empty({static_cast<std::int64_t>(windows.size()), network.labels()});
    const auto groups = network.group(windows, batch_tokens, model::sizes_for_scores(network.device()));
    const auto finish = [&](const std::vector<std::size_t>& group, model::HostCopy& some) {
        const std::vector<std::int64_t> places(group.begin(), group.end());
        logits.index_copy_(0, at::tensor(places, at::kLong), some.get());
        // A group may name its last window several times.
        const auto last = std::ranges::find(group, group.back());
        if (after_batch) after_batch(std::distance(group.begin(), last) + 1);
    };
    // One group's logits are waited for when the device has the next one to compute.
    std::optional<model::HostCopy> before;
    for (std::size_t i = 0; i < groups.size(); ++i) {
        stop_if_asked();
        model::HostCopy some(network.logits(windows, groups[i], {}).to(at::kFloat));
        if (before) finish(groups[i - 1], *before);
        before = std::move(some);
    }
    if (before) finish(groups.back(), *before);
    return logits;  // (windows, labels)
}

}  // namespace bigbird::task_models
