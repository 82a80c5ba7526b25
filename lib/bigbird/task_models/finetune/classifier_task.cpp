// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/finetune/classifier_task.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/rng.hpp"
#include "bigbird/model/device/device.hpp"
#include "bigbird/task_models/computing.hpp"
#include "bigbird/task_models/windows/batched_logits.hpp"

#include <algorithm>
#include <fstream>
#include <numeric>

namespace bigbird::task_models {

namespace {

constexpr std::int64_t fewest_positives = 10;    // an AUROC of fewer is mostly noise
constexpr std::int64_t evaluation_chunk = 1024;  // windows whose ids are unpacked at once

}  // namespace

evaluation::Summary validation_auroc(const at::Tensor& logits, const at::Tensor& targets) {
    const at::Tensor scores = logits.t().contiguous();                          // (labels, rows)
    const at::Tensor truth = targets.t().to(at::kCPU, at::kByte).contiguous();  // (labels, rows)
    const auto rows = static_cast<std::size_t>(scores.size(1));
    std::vector<std::optional<double>> values, trusted;
    for (std::int64_t label = 0; label < scores.size(0); ++label) {
        const auto offset = static_cast<std::size_t>(label) * rows;
        const std::span<const std::uint8_t> ones(truth.data_ptr<std::uint8_t>() + offset, rows);
        values.push_back(evaluation::roc_auc({scores.data_ptr<float>() + offset, rows}, ones));
        if (std::ranges::count(ones, std::uint8_t{1}) >= fewest_positives) trusted.push_back(values.back());
    }
    const evaluation::Summary summary = evaluation::summarise(trusted);
    return summary.defined > 0 ? summary : evaluation::summarise(values);
}

std::vector<std::int64_t> epoch_order(std::int64_t count, std::uint64_t seed, std::int64_t epoch) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(count));
    std::iota(order.begin(), order.end(), 0);
    Rng rng = Rng(seed).split("epoch order").split(static_cast<std::uint64_t>(epoch));
    for (std::int64_t i = count - 1; i > 0; --i) {
        std::swap(order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(rng.between(0, i))]);
    }
    return order;
}

std::vector<double> balanced_weights(const examples::ExampleSet& examples) {
    const auto rows = static_cast<double>(examples.rows(examples::Split::train).size());
    std::vector<double> weights;
    for (std::size_t label = 0; label < examples.label_table().size(); ++label) {
        const auto ones = static_cast<double>(examples.positives(label, examples::Split::train));
        weights.push_back(ones == 0 ? 1 : std::min(largest_balanced_weight, (rows - ones) / ones));
    }
    return weights;
}

ClassifierTask::ClassifierTask(std::shared_ptr<WindowNetwork> network, const examples::ExampleSet& examples,
                               const ClassifierSpec& spec, int threads,
                               std::shared_ptr<training::Ranks> ranks)
    : network_(std::move(network)),
      examples_(examples),
      spec_(spec),
      ranks_(ranks ? std::move(ranks) : std::make_shared<training::Ranks>()),
      gradients_(network_->trained_parameters(), *ranks_),
      training_(examples, examples.rows(examples::Split::train), *network_,
                spec.window.value_or(examples.bounds()), spec.both_strands, threads),
      validation_(examples, examples.rows(examples::Split::validation), *network_,
                  spec.window.value_or(examples.bounds()), false, threads),
      threads_(threads) {
    spec_.batch_tokens = batch_tokens_on(network_->device(), spec.batch_tokens, true);
    if (training_.size() == 0) {
        throw InputError(
            "--examples holds no window of train that can be used; build it again with a larger part for "
            "training");
    }
    if (spec.batch_size < ranks_->size()) {
        throw ConfigError("--batch-size " + std::to_string(spec.batch_size) + " leaves some of the " +
                          std::to_string(ranks_->size()) + " processes without a window");
    }
    const std::vector<double> weights =
        spec.positive_weight ? std::vector{*spec.positive_weight} : balanced_weights(examples);
    positive_weight_ = at::tensor(weights, at::kFloat).to(network_->device());
    if (spec.sampling == Sampling::balanced) {
        for (std::int64_t i = 0; i < training_.size(); ++i) {
            const std::vector<std::uint8_t> labels = examples.labels(training_.row(i));
            const bool any = std::ranges::find(labels, std::uint8_t{1}) != labels.end();
            (any ? with_label_ : without_).push_back(i);
        }
        if (with_label_.empty() || without_.empty()) {
            throw ConfigError(std::string("--sampling balanced: every window of train ") +
                              (without_.empty() ? "has a label" : "lacks a label"));
        }
    }
}

void ClassifierTask::start_at_base_rates() {
    const at::NoGradGuard no_gradients;
    const bool uniform = spec_.sampling == Sampling::uniform;
    // Every other window that balanced sampling draws has a label.
    const auto pool = static_cast<double>(uniform ? training_.size() : std::ssize(with_label_));
    std::vector<double> rates;
    for (std::size_t label = 0; label < examples_.label_table().size(); ++label) {
        const auto ones = static_cast<double>(examples_.positives(label, examples::Split::train));
        rates.push_back((uniform ? 1 : 0.5) * (std::min(ones, pool) + 0.5) / (pool + 1));
    }
    const at::Tensor p = at::tensor(rates, at::kDouble);
    const at::Tensor weight = positive_weight_.to(at::kCPU, at::kDouble);
    network_->output_bias().copy_((weight * p / (1 - p)).log());
}

const std::vector<std::int64_t>& ClassifierTask::order(std::size_t pool, std::int64_t size,
                                                       std::int64_t epoch) {
    Order& order = orders_[pool];
    if (order.epoch != epoch) {
        const std::uint64_t seed = pool == 0 ? spec_.seed : Rng(spec_.seed).split(pool).key();
        order.places = epoch_order(size, seed, epoch);
        order.epoch = epoch;
    }
    return order.places;
}

std::int64_t ClassifierTask::index_of(std::int64_t sample) {
    if (spec_.sampling == Sampling::uniform) {
        const std::int64_t windows = training_.size();
        return order(0, windows, sample / windows)[static_cast<std::size_t>(sample % windows)];
    }
    const std::vector<std::int64_t>& pool = sample % 2 == 0 ? with_label_ : without_;
    const std::int64_t drawn = sample / 2, size = std::ssize(pool);
    const std::int64_t place =
        order(sample % 2 == 0 ? 1 : 2, size, drawn / size)[static_cast<std::size_t>(drawn % size)];
    return pool[static_cast<std::size_t>(place)];
}

std::vector<ClassifierTask::Sample> ClassifierTask::samples_of(std::int64_t step) {
    std::vector<Sample> samples;
    samples.reserve(static_cast<std::size_t>(spec_.batch_size));
    for (std::int64_t i = (step - 1) * spec_.batch_size; i < step * spec_.batch_size; ++i) {
        const std::int64_t index = index_of(i);
        const bool reverse =
            spec_.both_strands && (Rng(spec_.seed)
                                       .split("strand")
                                       .split(static_cast<std::uint64_t>(epoch_of(i)))
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
    return values;  // (rows, labels)
}

at::Tensor ClassifierTask::loss_sum(const at::Tensor& logits, const at::Tensor& targets,
                                    const at::Tensor& positive_weight) {
    return at::binary_cross_entropy_with_logits(logits.to(at::kFloat), targets.to(at::kFloat), {},
                                                positive_weight, at::Reduction::Sum);
}

training::StepStats ClassifierTask::accumulate(std::int64_t step) {
    calibration_.reset();
    network_->module().train();
    const std::vector<Sample> all = samples_of(step);
    // This rank's share; a window's place in the whole batch keys its dropout.
    const std::int64_t begin = spec_.batch_size * ranks_->rank() / ranks_->size();
    const std::int64_t end = spec_.batch_size * (ranks_->rank() + 1) / ranks_->size();
    const std::span<const Sample> samples =
        std::span(all).subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
    std::vector<EncodedWindow> windows;
    training::StepStats stats;
    for (const Sample& sample : samples) {
        windows.push_back(training_.window(sample.index, sample.reverse));
        stats.tokens += std::ssize(windows.back().ids);
    }
    stats.sequences = end - begin;
    const double scale = 1.0 / static_cast<double>(spec_.batch_size * network_->labels());
    at::Tensor total = at::zeros({}, at::TensorOptions().device(network_->device()));
    const auto groups = network_->group(windows, spec_.batch_tokens, model::GroupSizes::any);
    for (std::size_t g = 0; g < groups.size(); ++g) {
        model::DropoutKey key{.seed = spec_.seed, .step = step};
        std::vector<std::int64_t> indices;
        for (const std::size_t place : groups[g]) {
            indices.push_back(samples[place].index);
            key.samples.push_back(begin + static_cast<std::int64_t>(place));
        }
        const at::Tensor logits = network_->logits(windows, groups[g], key);
        const at::Tensor wanted = model::copy_to_device(targets(training_, indices), network_->device());
        const at::Tensor loss = loss_sum(logits, wanted, positive_weight_) * scale;
        total += loss.detach();
        if (g + 1 < groups.size()) {
            loss.backward();
        } else {
            gradients_.backward(loss);
        }
    }
    stats.loss = total;
    return stats;
}

Json ClassifierTask::evaluate() {
    const std::int64_t rows = validation_.size();
    if (rows == 0) return Json::object();
    const at::NoGradGuard no_gradients;
    at::Tensor logits = at::zeros({rows, network_->labels()});  // of all ranks; each fills its share
    at::Tensor truth = at::zeros({rows, network_->labels()});
    at::Tensor loss = at::zeros({1}, at::kDouble);
    const at::Tensor weight = positive_weight_.cpu();  // all but the network's part is done on the CPU
    const std::int64_t first = rows * ranks_->rank() / ranks_->size();
    const std::int64_t last = rows * (ranks_->rank() + 1) / ranks_->size();
    for (std::int64_t begin = first; begin < last; begin += evaluation_chunk) {
        const std::int64_t end = std::min(last, begin + evaluation_chunk);
        std::vector<std::int64_t> indices;
        std::vector<EncodedWindow> windows;
        for (std::int64_t i = begin; i < end; ++i) {
            indices.push_back(i);
            windows.push_back(validation_.window(i));
        }
        const at::Tensor some = batched_logits(*network_, windows, spec_.batch_tokens);
        const at::Tensor wanted = targets(validation_, indices);
        logits.slice(0, begin, end).copy_(some);
        truth.slice(0, begin, end).copy_(wanted);
        loss += loss_sum(some, wanted, weight).item<double>();
    }
    for (at::Tensor* tensor : {&logits, &truth, &loss})
        ranks_->sum(*tensor);
    if (spec_.calibrates) calibration_ = fit_on_validation(logits, truth, threads_);
    const evaluation::Summary auroc = validation_auroc(logits, truth);
    Json metrics = {{"eval_loss", loss.item<double>() / static_cast<double>(rows * network_->labels())}};
    metrics["eval_auroc"] = auroc.mean ? Json(*auroc.mean) : Json(nullptr);
    metrics["eval_auroc_labels"] = auroc.defined;
    return metrics;
}

void ClassifierTask::write_model(const std::filesystem::path& directory) {
    write_task_model(*network_, examples_.label_table(), directory);
    if (calibration_) write_calibration(*calibration_, directory);
}

void write_task_model(const WindowNetwork& network, const rows::LabelTable& labels,
                      const std::filesystem::path& directory) {
    network.write(directory);
    std::ofstream out(directory / "labels.tsv", std::ios::binary);
    out << labels.to_text();
    if (!out.flush()) {
        throw WriteError((directory / "labels.tsv").string() + ": writing failed");
    }
}

}  // namespace bigbird::task_models
