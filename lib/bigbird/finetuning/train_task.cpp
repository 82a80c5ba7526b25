// SPDX-License-Identifier: Apache-2.0
#include "bigbird/finetuning/train_task.hpp"

#include "bigbird/core/check.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/model/device/device.hpp"
#include "bigbird/model/safetensors.hpp"
#include "bigbird/model/weights.hpp"

#include <algorithm>
#include <utility>

namespace bigbird::tasks {
namespace fs = std::filesystem;

namespace {

constexpr const char *training_weights = "weights.safetensors", *average_weights = "average.safetensors";

/// Adapters, and what is trained with them, of a checkpoint's file.
void read_adapters(const torch::nn::Module& module, const fs::path& file) {
    const at::NoGradGuard no_gradients;
    const model::TensorMap weights = model::read_safetensors(file);
    for (auto& [name, parameter] : model::adapted_parameters(module)) {
        const auto found = weights.find(name);
        if (found == weights.end() || found->second.sizes() != parameter.sizes())
            throw InputError("lacks " + name + " in its shape", file);
        at::Tensor(parameter).copy_(found->second);
    }
}

/// Padded ids that go through a network at once. With adapters on a CPU they are few: activations are most of
/// what such training needs beside the weights.
std::int64_t tokens_at_once(const TaskNetwork& network, const ClassifierSpec& spec) {
    constexpr std::int64_t values = 256 * 768;  // of base size, 256 ids
    const auto module = network.module();
    const auto* const adapted = dynamic_cast<const model::SequenceClassifierImpl*>(module.get());
    if (spec.lora.rank == 0 || spec.batch_tokens > 0 || !network.device().is_cpu() || adapted == nullptr)
        return batch_tokens_on(network.device(), spec.batch_tokens, true);
    return std::max<std::int64_t>(1, values / adapted->config().hidden_size);
}

}  // namespace

Wanted TrainingData::wanted(const Batch& batch, std::span<const std::size_t> group, std::int64_t) const {
    const std::vector<std::int64_t> indices(group.begin(), group.end());
    const at::Tensor chosen = at::tensor(indices, at::kLong);
    const auto of = [&](const at::Tensor& all) { return all.defined() ? all.index_select(0, chosen) : all; };
    return {of(batch.wanted.targets), of(batch.wanted.counts)};
}

ScoredRows TrainingData::score(const TaskNetwork& network, const Target& target, const Batch& batch,
                               std::int64_t batch_tokens) const {
    std::optional<model::GroupSizes> sizes;  // on a CPU a few windows at once, as in a step
    if (network.segments() == Segments::bins && !network.device().is_cpu()) sizes = model::GroupSizes::any;
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

TrainTask::TrainTask(std::shared_ptr<TaskNetwork> network, std::unique_ptr<TrainingData> data, TaskInfo info,
                     const ClassifierSpec& spec, std::optional<double> averaging, int threads,
                     std::shared_ptr<training::Ranks> ranks)
    : network_(std::move(network)),
      module_(network_->module()),
      data_(std::move(data)),
      target_(data_->target(network_->device())),
      info_(std::move(info)),
      batch_size_(spec.batch_size),
      batch_tokens_(tokens_at_once(*network_, spec)),
      seed_(spec.seed),
      calibrates_(spec.calibrates),
      lora_(spec.lora),
      averaging_(averaging.value_or(0)),
      threads_(threads),
      ranks_(std::move(ranks)),
      gradients_(network_->trained_parameters(), *ranks_) {
    if (batch_size_ < ranks_->size()) {
        throw ConfigError("--batch-size " + std::to_string(batch_size_) + " leaves some of the " +
                          std::to_string(ranks_->size()) + " processes without a window");
    }
    data_->start(*network_, *target_, ranks_->is_first());
    if (averaging) {
        average_ = network_->twin();
        BIGBIRD_EXPECTS(average_ != nullptr, "weights are averaged of networks that have a twin");
        for (at::Tensor& parameter : average_->module()->parameters())
            parameter.set_requires_grad(false);
        average_->module()->eval();
        module_ = std::make_shared<torch::nn::Module>("model of bins");
        module_->register_module("network", network_->module());
        module_->register_module("average", average_->module());
    }
}

training::StepStats TrainTask::accumulate(std::int64_t step) {
    network_->module()->train();
    const std::int64_t first = (step - 1) * batch_size_;
    const std::int64_t begin = batch_size_ * ranks_->rank() / ranks_->size();
    const std::int64_t end = batch_size_ * (ranks_->rank() + 1) / ranks_->size();
    // All ranks divide by the weight of the full batch, because the loss is a mean over it.
    const double scale = 1.0 / data_->weight(first, first + batch_size_);
    const Batch batch = data_->train(first + begin, first + end);
    training::StepStats stats;
    stats.loss = at::zeros({}, at::TensorOptions().device(network_->device()));
    if (network_->segments() != Segments::bins && network_->reads_tokens())
        for (const EncodedWindow& window : batch.windows)
            stats.tokens += std::ssize(window.ids);
    stats.sequences = end - begin;
    const auto sizes =
        network_->segments() == Segments::tokens ? model::GroupSizes::few : model::GroupSizes::any;
    const auto groups = network_->group(batch.windows, batch_tokens_, sizes);
    for (const auto& group : groups) {
        model::DropoutKey key{.seed = seed_, .step = step};
        for (const std::size_t place : group)
            key.samples.push_back(data_->dropout_sample(first, begin + static_cast<std::int64_t>(place)));
        const at::Tensor logits = network_->logits(batch.windows, group, key);
        Wanted wanted = data_->wanted(batch, group, logits.size(1));
        wanted.targets = model::copy_to_device(wanted.targets, network_->device());
        if (wanted.counts.defined()) wanted.counts = model::copy_to_device(wanted.counts, network_->device());
        const at::Tensor loss = target_->loss_sum(logits, wanted.targets, wanted.counts) * scale;
        stats.loss += loss.detach();
        if (&group != &groups.back())
            loss.backward();
        else
            gradients_.backward(loss);
    }
    return stats;
}

void TrainTask::made(std::int64_t step) {
    calibration_.reset();
    if (!average_) return;
    // The first steps have a low weight in the average, because their weights are far from the final ones.
    const auto steps = static_cast<double>(step);
    const double decay = std::min(averaging_, (1 + steps) / (10 + steps));
    const at::NoGradGuard no_gradients;
    const auto from = network_->module()->parameters();
    auto to = average_->module()->parameters();
    for (std::size_t i = 0; i < to.size(); ++i)
        if (!to[i].is_alias_of(from[i])) to[i].lerp_(from[i], averaging_ == 0 ? 1.0 : 1.0 - decay);
}

Json TrainTask::evaluate() {
    const at::NoGradGuard no_gradients;
    trained().module()->eval();
    const std::int64_t count = data_->validation_size(), chunk = data_->validation_chunk(batch_tokens_);
    const std::int64_t first = count * ranks_->rank() / ranks_->size();
    const std::int64_t last = count * (ranks_->rank() + 1) / ranks_->size();
    std::vector<at::Tensor> logits, truth;
    double loss = 0;
    for (std::int64_t begin = first; begin < last; begin += chunk) {
        stop_if_asked();
        const Batch batch = data_->validation(begin, std::min(last, begin + chunk));
        const ScoredRows some = data_->score(trained(), *target_, batch, batch_tokens_);
        logits.push_back(some.logits);
        truth.push_back(some.truth);
        loss += some.loss;
    }
    ScoredRows own{at::empty({0, network_->labels()}), at::empty({0}, at::kLong), loss};
    if (!logits.empty()) own = {at::cat(logits), at::cat(truth), loss};
    const ScoredRows rows = of_all_ranks(std::move(own));
    if (rows.logits.size(0) == 0) return Target::no_figures();
    if (calibrates_ && gives_probabilities(target_->link()) &&
        ranks_->is_first()) {  // the first rank writes the model
        auto fitted = fit_on_validation(rows.logits, rows.truth, threads_, target_->link());
        if (!fitted && !std::exchange(told_uncalibrated_, true))
            log_info("scores are not calibrated: {}", too_few_to_calibrate());
        if (fitted) fitted->of_bases = network_->segments() == Segments::tokens;
        const std::scoped_lock lock(calibration_mutex_);
        calibration_ = std::move(fitted);
    }
    return target_->figures(rows.logits, rows.truth, rows.loss / static_cast<double>(rows.logits.numel()));
}

ScoredRows TrainTask::of_all_ranks(ScoredRows own) const {
    if (ranks_->size() == 1) return own;
    const bool by_label = target_->link() != LinkFunction::softmax;  // truth is (rows, labels)
    const std::int64_t rows = own.logits.size(0), labels = network_->labels();
    at::Tensor sizes = at::zeros({ranks_->size()}, at::kLong), loss = at::full({1}, own.loss, at::kDouble);
    sizes[ranks_->rank()] = rows;
    ranks_->sum(sizes);
    ranks_->sum(loss);
    const auto before = sizes.narrow(0, 0, ranks_->rank()).sum().item<std::int64_t>(),
               total = sizes.sum().item<std::int64_t>();
    at::Tensor logits = at::zeros({total, labels}),
               truth = by_label ? at::zeros({total, labels}) : at::zeros({total}, at::kLong);
    if (rows > 0) {
        logits.narrow(0, before, rows).copy_(own.logits);
        truth.narrow(0, before, rows).copy_(own.truth);
    }
    ranks_->sum(logits);
    ranks_->sum(truth);
    return {logits, truth, loss.item<double>()};
}

void TrainTask::write_model(const fs::path& directory) {
    trained().write(info_, directory);
    write_labels(data_->labels(), directory);
    const std::shared_ptr<torch::nn::Module> module = trained().module();
    if (const auto* const adapted = dynamic_cast<model::SequenceClassifierImpl*>(module.get());
        adapted != nullptr && lora_.rank > 0)
        model::write_adapters(*adapted, lora_of(lora_), lora_.base, directory / "adapter");
    const std::scoped_lock lock(calibration_mutex_);
    if (calibration_) write_calibration(*calibration_, directory);
}

void TrainTask::write_training_state(const fs::path& directory) {
    if (!average_ && lora_.rank == 0) return;
    if (lora_.rank > 0) {
        model::write_safetensors(model::adapted_parameters(*network_->module()),
                                 directory / training_weights);
        if (average_)
            model::write_safetensors(model::adapted_parameters(*average_->module()),
                                     directory / average_weights);
    } else {
        model::write_safetensors(model::parameters_of(*network_->module()), directory / training_weights);
    }
}

void TrainTask::read_model(const fs::path& checkpoint) {
    const fs::path state = checkpoint / "training_state";
    if (lora_.rank > 0) {
        read_adapters(*network_->module(), state / training_weights);
        if (average_) read_adapters(*average_->module(), state / average_weights);
        return;
    }
    if (!average_) return TrainingTask::read_model(checkpoint);
    model::fill_parameters(*average_->module(), model::read_weights(checkpoint), {},
                           checkpoint / "model.safetensors");
    const fs::path weights = state / training_weights;
    model::fill_parameters(*network_->module(), model::read_safetensors(weights), {}, weights);
}

}  // namespace bigbird::tasks
