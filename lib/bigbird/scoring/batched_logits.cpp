// SPDX-License-Identifier: Apache-2.0
#include "bigbird/scoring/batched_logits.hpp"

#include "bigbird/core/interrupt.hpp"

namespace bigbird::scoring {

at::Tensor batched_logits(WindowNetwork& network, std::span<const EncodedWindow> windows,
                          std::int64_t batch_tokens, const std::function<void(std::int64_t)>& after_batch) {
    const torch::NoGradGuard no_gradients;
    network.module().eval();
    at::Tensor logits = at::empty({static_cast<std::int64_t>(windows.size()), network.labels()});
    for (const auto& group : network.group(windows, batch_tokens)) {
        stop_if_asked();
        const at::Tensor some = network.logits(windows, group, {});
        std::vector<std::int64_t> places(group.begin(), group.end());
        const at::Tensor rows = at::tensor(places, at::kLong);  // (group)
        logits.index_copy_(0, rows, some.to(at::kCPU, at::kFloat));
        if (after_batch) after_batch(static_cast<std::int64_t>(group.size()));
    }
    return logits;  // (windows, labels)
}

}  // namespace bigbird::scoring
