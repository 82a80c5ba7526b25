// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/train/training_data.hpp"

namespace bigbird::task_models {

Wanted TrainingData::wanted(const Batch& batch, std::span<const std::size_t> group, std::int64_t) const {
    const std::vector<std::int64_t> indices(group.begin(), group.end());
    const at::Tensor chosen = at::tensor(indices, at::kLong);
    const auto of = [&](const at::Tensor& all) { return all.defined() ? all.index_select(0, chosen) : all; };
    return {of(batch.wanted.targets), of(batch.wanted.counts)};
}

ScoredRows TrainingData::score(const TaskNetwork& network, const Target& target, const Batch& batch,
                               std::int64_t batch_tokens) const {
    std::optional<model::GroupSizes> sizes;
    if (network.segments() == Segments::bins) sizes = model::GroupSizes::any;
    const at::Tensor logits = batched_logits(network, batch.windows, batch_tokens, {}, sizes);
    const auto& [targets, counts] = batch.wanted;
    ScoredRows rows{logits.flatten(0, 1), targets.flatten(0, 1),
                    target.loss_sum(logits, targets, counts).item<double>()};
    if (target.link() == LinkFunction::softmax) rows.truth = rows.truth.argmax(1);  // the class of each row
    if (counts.defined()) {
        const at::Tensor kept = counts.flatten().nonzero().squeeze(1);
        rows.logits = rows.logits.index_select(0, kept);
        rows.truth = rows.truth.index_select(0, kept);
    }
    return rows;
}

void start_at(const std::vector<double>& rates, TaskNetwork& network, const Target& target) {
    const at::NoGradGuard no_gradients;
    network.output_bias().copy_(target.bias_at(rates));
}

}  // namespace bigbird::task_models
