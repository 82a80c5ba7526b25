// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/finetune/bins_task.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/evaluation/metrics.hpp"
#include "bigbird/model/device/device.hpp"
#include "bigbird/model/safetensors.hpp"
#include "bigbird/model/weights.hpp"
#include "bigbird/task_models/computing.hpp"
#include "bigbird/task_models/finetune/classifier_task.hpp"

#include <algorithm>
#include <fstream>

namespace bigbird::task_models {
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t fewest_positives = 10;  // as validation_auroc
constexpr const char* training_weights = "weights.safetensors";

std::vector<double> weights_of(const std::vector<std::int64_t>& positives, std::int64_t bins) {
    std::vector<double> weights;
    for (const std::int64_t ones : positives) {
        weights.push_back(ones == 0 ? 1
                                    : std::min(largest_balanced_weight,
                                               static_cast<double>(bins - ones) / static_cast<double>(ones)));
    }
    return weights;
}

/// The network twice: the weights of `network`, and their average.
std::shared_ptr<torch::nn::Module> with_average(const BinNetwork& network, const BinNetwork& average) {
    const auto both = std::make_shared<torch::nn::Module>("model of bins");
    both->register_module("network", network.module());
    both->register_module("average", average.module());
    return both;
}

/// A copy that wants no gradients.
std::shared_ptr<BinNetwork> average_of(const BinNetwork& network) {
    std::shared_ptr<BinNetwork> copy = network.copy();
    for (at::Tensor& parameter : copy->module()->parameters())
        parameter.set_requires_grad(false);
    copy->module()->eval();
    return copy;
}

/// Mean average precision over the labels that validation_auroc counts; (rows, labels) both.
std::optional<double> mean_auprc(const at::Tensor& logits, const at::Tensor& truth) {
    const at::Tensor scores = logits.t().contiguous(), ones = truth.t().to(at::kByte).contiguous();
    const auto rows = static_cast<std::size_t>(scores.size(1));
    std::vector<std::optional<double>> values;
    for (std::int64_t label = 0; label < scores.size(0); ++label) {
        const std::size_t offset = static_cast<std::size_t>(label) * rows;
        const std::span<const std::uint8_t> positives(ones.const_data_ptr<std::uint8_t>() + offset, rows);
        if (std::ranges::count(positives, std::uint8_t{1}) < fewest_positives) continue;
        values.push_back(
            evaluation::average_precision({scores.const_data_ptr<float>() + offset, rows}, positives));
    }
    return evaluation::summarise(values).mean;
}

}  // namespace

BinsTask::BinsTask(std::shared_ptr<BinNetwork> network, const examples::LabelledBins& bins, TaskInfo info,
                   const ClassifierSpec& spec, const BinsSpec& of_bins, int threads,
                   std::shared_ptr<training::Ranks> ranks)
    : network_(std::move(network)),
      grid_(network_->grid()),
      bins_(bins),
      info_(std::move(info)),
      spec_(spec),
      of_bins_(of_bins),
      threads_(threads),
      device_(network_->device()),
      ranks_(ranks ? std::move(ranks) : std::make_shared<training::Ranks>()),
      gradients_(network_->trained_parameters(), *ranks_),
      training_(bins, grid_, examples::Split::train, threads),
      validation_(bins, grid_, examples::Split::validation, threads) {
    if (training_.usable() == 0) {
        throw InputError(
            "--examples holds no bin of train that is not N; build it again with a larger part for training");
    }
    const std::vector<std::int64_t> positives = training_.positives();
    if (std::ranges::all_of(positives, [](std::int64_t count) { return count == 0; })) {
        throw InputError("--examples has no bin of train with a label: there is nothing to learn");
    }
    if (spec.batch_size < ranks_->size()) {
        throw ConfigError("--batch-size " + std::to_string(spec.batch_size) + " leaves some of the " +
                          std::to_string(ranks_->size()) + " processes without a window");
    }
    const std::vector<double> weights =
        spec.positive_weight ? std::vector{*spec.positive_weight} : weights_of(positives, training_.usable());
    positive_weight_ = at::tensor(weights, at::kFloat).to(device_);
    start_at_base_rates();
    if (of_bins.motifs > 0) start_with_motifs();
    average_ = average_of(*network_);
    both_ = with_average(*network_, *average_);
}

void BinsTask::start_at_base_rates() {
    const at::NoGradGuard no_gradients;
    const auto bins = static_cast<double>(training_.usable());
    std::vector<double> rates;
    for (const std::int64_t ones : training_.positives())
        rates.push_back((static_cast<double>(ones) + 0.5) / (bins + 1));
    const at::Tensor p = at::tensor(rates, at::kDouble), weight = positive_weight_.to(at::kCPU, at::kDouble);
    network_->output_bias().copy_((weight * p / (1 - p)).log());
}

void BinsTask::start_with_motifs() {
    constexpr double norm = 0.9;  // of the other filters it is 0.58
    at::Tensor filters = network_->first_filters();
    if (!filters.defined()) return;
    const bins::MotifSearch search{.width = std::max(filters.size(2), bins::least_motif_width),
                                   .most = std::min(of_bins_.motifs, filters.size(0))};
    const bins::LabelledSequence bins = training_.labelled_sequence();
    const std::vector<bins::Motif> motifs = bins::find_motifs(bins, search, threads_);
    const at::NoGradGuard no_gradients;
    at::Tensor planted = filters.cpu();
    bins::plant_motifs(planted, motifs, norm);
    filters.copy_(planted);
    std::int64_t own = 0;
    if (const bins::OwnMotifs head = network_->own_motifs(); head.weight.defined()) {
        const bins::OwnMotifs chosen = choose_own_motifs(planted.narrow(0, 0, head.mean.size(0)), bins);
        head.mean.copy_(chosen.mean);
        head.weight.copy_(chosen.weight);
        own = chosen.weight.count_nonzero().item<std::int64_t>();
    }
    if (ranks_->rank() == 0) {
        log_info("{} filters begin as motifs of the training bins; {} labels have one of their own",
                 motifs.size(), own);
    }
}

BinWindow BinsTask::window_of(std::int64_t sample) const {
    const Rng stream = Rng(spec_.seed).split("windows of bins").split(static_cast<std::uint64_t>(sample));
    return training_.draw(stream, of_bins_.shift, spec_.both_strands);
}

std::int64_t BinsTask::windows_at_once() const {
    const std::int64_t positions = batch_tokens_on(device_, spec_.batch_tokens, true);
    return std::max<std::int64_t>(1, positions / network_->window_positions());
}

BinsTask::Batch BinsTask::batch_of(const BinWindows& source, std::span<const BinWindow> windows) const {
    const std::int64_t count = std::ssize(windows), labels = network_->labels();
    at::Tensor targets = at::empty({count, grid_.window_bins, labels}, at::kByte);
    at::Tensor counts = at::empty({count, grid_.window_bins, 1}, at::kByte);
    std::vector<EncodedWindow> encoded(windows.size());
    auto *ones = targets.mutable_data_ptr<std::uint8_t>(), *counted = counts.mutable_data_ptr<std::uint8_t>();
    parallel_for(count, threads_, [&](std::int64_t i) {
        const BinWindow& window = windows[static_cast<std::size_t>(i)];
        const auto width = static_cast<std::size_t>(grid_.window_bins * labels),
                   bins = static_cast<std::size_t>(grid_.window_bins), at = static_cast<std::size_t>(i);
        source.copy_labels(window, {ones + at * width, width}, {counted + at * bins, bins});
        encoded[at] = network_->encode(source.sequence(window));
    });
    return {std::move(encoded), model::copy_to_device(targets, device_).to(at::kFloat),
            model::copy_to_device(counts, device_).to(at::kFloat)};
}

at::Tensor BinsTask::loss_sum(const at::Tensor& logits, const Batch& batch) const {
    const at::Tensor losses = at::binary_cross_entropy_with_logits(logits, batch.targets, {},
                                                                   positive_weight_, at::Reduction::None);
    return (losses * batch.counts).sum();
}

training::StepStats BinsTask::accumulate(std::int64_t step) {
    follow();
    calibration_.reset();
    step_ = step;
    network_->module()->train();
    std::vector<BinWindow> all;
    for (std::int64_t i = (step - 1) * spec_.batch_size; i < step * spec_.batch_size; ++i)
        all.push_back(window_of(i));
    // All ranks count the bins of the whole batch, which the loss is a mean over.
    std::int64_t counted = 0;
    std::vector<std::uint8_t> labels(static_cast<std::size_t>(grid_.window_bins * network_->labels())),
        counts(static_cast<std::size_t>(grid_.window_bins));
    for (const BinWindow& window : all) {
        training_.copy_labels(window, labels, counts);
        counted += std::ranges::count(counts, std::uint8_t{1});
    }
    const double scale = 1.0 / static_cast<double>(counted * network_->labels());
    const std::int64_t begin = spec_.batch_size * ranks_->rank() / ranks_->size();
    const std::int64_t end = spec_.batch_size * (ranks_->rank() + 1) / ranks_->size();
    at::Tensor total = at::zeros({}, at::TensorOptions().device(device_));
    for (std::int64_t i = begin; i < end; i += windows_at_once()) {
        const std::int64_t last = std::min(end, i + windows_at_once());
        const Batch batch = batch_of(training_, std::span(all).subspan(static_cast<std::size_t>(i),
                                                                       static_cast<std::size_t>(last - i)));
        model::DropoutKey key{.seed = spec_.seed, .step = step};
        for (std::int64_t sample = i; sample < last; ++sample)
            key.samples.push_back(sample);
        const at::Tensor logits = network_->logits(batch.windows, key);
        const at::Tensor loss = loss_sum(logits, batch) * scale;
        total += loss.detach();
        if (last < end) {
            loss.backward();
        } else {
            gradients_.backward(loss);
        }
    }
    training::StepStats stats;
    stats.loss = total;
    stats.tokens = (end - begin) * network_->window_positions();
    stats.sequences = end - begin;
    return stats;
}

void BinsTask::follow() {
    if (followed_to_ == step_) return;
    followed_to_ = step_;
    // The first steps count for little: their weights are far from where the run goes.
    const auto steps = static_cast<double>(step_);
    const double decay = std::min(of_bins_.averaging, (1 + steps) / (10 + steps));
    const at::NoGradGuard no_gradients;
    const auto from = network_->module()->parameters();
    auto to = average_->module()->parameters();
    for (std::size_t i = 0; i < to.size(); ++i)
        to[i].lerp_(from[i], of_bins_.averaging == 0 ? 1.0 : 1.0 - decay);
}

Json BinsTask::evaluate() {
    follow();
    const std::vector<BinWindow> windows = validation_.tiles();
    if (validation_.usable() == 0) return {{"eval_loss", nullptr}, {"eval_auroc", nullptr}};
    const at::NoGradGuard no_gradients;
    const std::int64_t bins = grid_.window_bins, labels = network_->labels();
    const auto count = std::ssize(windows);
    at::Tensor logits = at::zeros({count, bins, labels}), truth = at::zeros({count, bins, labels});
    at::Tensor counts = at::zeros({count, bins, 1}), loss = at::zeros({1}, at::kDouble);
    const std::int64_t first = count * ranks_->rank() / ranks_->size();
    const std::int64_t last = count * (ranks_->rank() + 1) / ranks_->size();
    for (std::int64_t i = first; i < last; i += windows_at_once()) {
        stop_if_asked();
        const std::int64_t end = std::min(last, i + windows_at_once());
        const Batch batch = batch_of(
            validation_,
            std::span(windows).subspan(static_cast<std::size_t>(i), static_cast<std::size_t>(end - i)));
        const at::Tensor some = average_->logits(batch.windows);
        loss += loss_sum(some, batch).item<double>();
        logits.slice(0, i, end).copy_(some);
        truth.slice(0, i, end).copy_(batch.targets);
        counts.slice(0, i, end).copy_(batch.counts);
    }
    for (at::Tensor* tensor : {&logits, &truth, &counts, &loss})
        ranks_->sum(*tensor);
    const at::Tensor kept = counts.flatten().nonzero().squeeze(1);
    logits = logits.view({count * bins, labels}).index_select(0, kept);
    truth = truth.view({count * bins, labels}).index_select(0, kept);
    if (spec_.calibrates) calibration_ = fit_on_validation(logits, truth, threads_);
    const evaluation::Summary auroc = validation_auroc(logits, truth);
    const std::optional<double> auprc = mean_auprc(logits, truth);
    return {{"eval_loss", loss.item<double>() / static_cast<double>(kept.numel() * labels)},
            {"eval_auroc", auroc.mean ? Json(*auroc.mean) : Json(nullptr)},
            {"eval_auprc", auprc ? Json(*auprc) : Json(nullptr)},
            {"eval_auroc_labels", auroc.defined}};
}

void BinsTask::write_model(const fs::path& directory) {
    follow();
    average_->write(info_, directory);
    std::ofstream out(directory / "labels.tsv", std::ios::binary);
    out << bins_.label_table().to_text();
    if (!out.flush()) throw WriteError((directory / "labels.tsv").string() + ": writing failed");
    if (calibration_) write_calibration(*calibration_, directory);
}

void BinsTask::write_training_state(const fs::path& directory) {
    model::write_safetensors(model::parameters_of(*network_->module()), directory / training_weights);
}

void BinsTask::read_model(const fs::path& checkpoint) {
    model::fill_parameters(*average_->module(), model::read_weights(checkpoint), {},
                           checkpoint / "model.safetensors");
    const fs::path weights = checkpoint / "training_state" / training_weights;
    model::fill_parameters(*network_->module(), model::read_safetensors(weights), {}, weights);
}

}  // namespace bigbird::task_models
