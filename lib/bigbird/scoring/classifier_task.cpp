// SPDX-License-Identifier: Apache-2.0
#include "bigbird/scoring/classifier_task.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/rng.hpp"
#include "bigbird/model/model_directory.hpp"
#include "bigbird/scoring/task_model.hpp"
#include "bigbird/tasks/metrics.hpp"

#include <algorithm>
#include <fstream>
#include <numeric>

namespace bigbird::scoring {

namespace {

constexpr std::int64_t evaluation_chunk = 1024;  // windows whose ids are unpacked at once

/// Mean AUROC over the labels that have one.
tasks::Summary auroc_summary(const at::Tensor& logits, const at::Tensor& targets) {
    const at::Tensor scores = logits.t().contiguous();                          // (labels, rows)
    const at::Tensor truth = targets.t().to(at::kCPU, at::kByte).contiguous();  // (labels, rows)
    const auto rows = static_cast<std::size_t>(scores.size(1));
    std::vector<std::optional<double>> values;
    for (std::int64_t label = 0; label < scores.size(0); ++label) {
        const auto offset = static_cast<std::size_t>(label) * rows;
        values.push_back(tasks::roc_auc({scores.data_ptr<float>() + offset, rows},
                                        {truth.data_ptr<std::uint8_t>() + offset, rows}));
    }
    return tasks::summarise(values);
}

}  // namespace

std::vector<std::int64_t> epoch_order(std::int64_t count, std::uint64_t seed, std::int64_t epoch) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(count));
    std::iota(order.begin(), order.end(), 0);
    Rng rng = Rng(seed).split("epoch order").split(static_cast<std::uint64_t>(epoch));
    for (std::int64_t i = count - 1; i > 0; --i) {
        std::swap(order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(rng.between(0, i))]);
    }
    return order;
}

ClassifierTask::ClassifierTask(model::SequenceClassifier network, tokenizer::DnaTokenizer tokenizer,
                               const tasks::ExampleSet& examples, const ClassifierSpec& spec,
                               const at::Device& device)
    : network_(std::move(network)),
      tokenizer_(std::move(tokenizer)),
      examples_(examples),
      spec_(spec),
      device_(device),
      training_(examples, examples.rows(tasks::Split::train), tokenizer_, max_tokens(network_->config()),
                spec.both_strands, spec.threads),
      validation_(examples, examples.rows(tasks::Split::validation), tokenizer_,
                  max_tokens(network_->config()), false, spec.threads),
      positive_weight_(at::full({1}, spec.positive_weight, at::TensorOptions().device(device))) {
    if (training_.size() == 0) {
        throw InputError(
            "--examples holds no window of train that can be used; build it again with a larger part for "
            "training");
    }
}

std::vector<ClassifierTask::Sample> ClassifierTask::samples_of(std::int64_t step) {
    const std::int64_t windows = training_.size();
    std::vector<Sample> samples;
    samples.reserve(static_cast<std::size_t>(spec_.batch_size));
    for (std::int64_t i = (step - 1) * spec_.batch_size; i < step * spec_.batch_size; ++i) {
        const std::int64_t epoch = i / windows;
        if (epoch != order_epoch_) {
            order_ = epoch_order(windows, spec_.seed, epoch);
            order_epoch_ = epoch;
        }
        const std::int64_t index = order_[static_cast<std::size_t>(i % windows)];
        const bool reverse =
            spec_.both_strands && (Rng(spec_.seed)
                                       .split("strand")
                                       .split(static_cast<std::uint64_t>(epoch))
                                       .split(static_cast<std::uint64_t>(training_.row(index)))
                                       .next() &
                                   1U) != 0;
        samples.push_back({index, reverse});
    }
    return samples;
}

at::Tensor ClassifierTask::targets(const EncodedExamples& windows,
                                   const std::vector<std::int64_t>& indices) const {
    const std::size_t labels = examples_.label_table().size();
    at::Tensor values =
        at::empty({static_cast<std::int64_t>(indices.size()), static_cast<std::int64_t>(labels)}, at::kByte);
    auto* out = values.data_ptr<std::uint8_t>();
    for (const std::int64_t index : indices) {
        examples_.copy_labels(windows.row(index), {out, labels});
        out += labels;
    }
    return values.to(device_).to(at::kFloat);  // (rows, labels)
}

at::Tensor ClassifierTask::loss_sum(const at::Tensor& logits, const at::Tensor& targets) const {
    return at::binary_cross_entropy_with_logits(logits.to(at::kFloat), targets, {}, positive_weight_,
                                                at::Reduction::Sum);
}

train::StepStats ClassifierTask::accumulate(std::int64_t step) {
    network_->train();
    const model::BigBirdConfig& config = network_->config();
    const std::vector<Sample> samples = samples_of(step);
    std::vector<model::TokenSequence> sequences;
    train::StepStats stats;
    for (const Sample& sample : samples) {
        sequences.push_back(training_.sequence(sample.index, sample.reverse));
        stats.tokens += static_cast<std::int64_t>(sequences.back().ids.size());
    }
    stats.sequences = spec_.batch_size;
    const double scale = 1.0 / static_cast<double>(spec_.batch_size * config.num_labels);
    model::DropoutKey key{.seed = spec_.seed, .step = step, .first_sample = 0};
    at::Tensor total = at::zeros({}, at::TensorOptions().device(device_));
    for (const auto& group :
         model::group_by_blocks(sequences, config.pattern.block_size, spec_.batch_tokens)) {
        std::vector<std::int64_t> indices;
        for (const std::size_t place : group) {
            indices.push_back(samples[place].index);
        }
        const at::Tensor logits =
            pooled_logits(network_, gather_input(sequences, group, config, device_), spec_.pooling, key);
        const at::Tensor loss = loss_sum(logits, targets(training_, indices)) * scale;
        loss.backward();
        total += loss.detach();
        key.first_sample += static_cast<std::int64_t>(group.size());
    }
    stats.loss = total;
    return stats;
}

Json ClassifierTask::evaluate() {
    if (validation_.size() == 0) return Json::object();
    const torch::NoGradGuard no_gradients;
    std::vector<at::Tensor> logits, truth;
    double loss = 0;
    for (std::int64_t begin = 0; begin < validation_.size(); begin += evaluation_chunk) {
        std::vector<std::int64_t> indices;
        std::vector<model::TokenSequence> sequences;
        for (std::int64_t i = begin; i < std::min(validation_.size(), begin + evaluation_chunk); ++i) {
            indices.push_back(i);
            sequences.push_back(validation_.sequence(i));
        }
        logits.push_back(batched_logits(network_, spec_.pooling, sequences, device_, spec_.batch_tokens));
        truth.push_back(targets(validation_, indices));
        loss += loss_sum(logits.back().to(device_), truth.back()).item<double>();
    }
    const auto cells = static_cast<double>(validation_.size() * network_->config().num_labels);
    const tasks::Summary auroc = auroc_summary(at::cat(logits), at::cat(truth));
    Json metrics = {{"eval_loss", loss / cells}};
    metrics["eval_auroc"] = auroc.mean ? Json(*auroc.mean) : Json(nullptr);
    metrics["eval_auroc_labels"] = auroc.defined;
    return metrics;
}

void ClassifierTask::write_model(const std::filesystem::path& directory) {
    model::write_model(network_, &tokenizer_, directory);
    std::ofstream labels(directory / "labels.tsv", std::ios::binary);
    labels << examples_.label_table().to_text();
    if (!labels.flush()) {
        throw WriteError((directory / "labels.tsv").string() + ": writing failed");
    }
}

}  // namespace bigbird::scoring
