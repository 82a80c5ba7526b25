// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/tokens/tokens_task.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/evaluation/metrics.hpp"
#include "bigbird/model/device/device.hpp"
#include "bigbird/model/model_directory.hpp"

#include <algorithm>
#include <fstream>

namespace bigbird::task_models {
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t fewest_bases = 10, most_validation_bases = 4'000'000, windows_together = 64;
constexpr double largest_weight = 100;

/// Every k-th, so that together they score at most most_validation_bases.
std::vector<LabelWindow> evenly_spaced(std::vector<LabelWindow> windows, std::int64_t bases) {
    const std::int64_t stride = (bases + most_validation_bases - 1) / most_validation_bases;
    if (stride <= 1) return windows;
    std::vector<LabelWindow> some;
    for (std::size_t i = 0; i < windows.size(); i += static_cast<std::size_t>(stride))
        some.push_back(std::move(windows[i]));
    return some;
}

Json mean_of(const std::vector<std::optional<double>>& values) {
    const std::optional<double> mean = evaluation::summarise(values).mean;
    return mean ? Json(*mean) : Json(nullptr);
}

evaluation::Confusion confusion_of(const at::Tensor& called, const at::Tensor& truth, std::int64_t label) {
    const at::Tensor is = truth == label, says = called == label;
    const auto count = [](const at::Tensor& x) { return x.sum().item<std::int64_t>(); };
    evaluation::Confusion confusion;
    confusion.true_positives = count(is & says);
    confusion.false_positives = count(~is & says);
    confusion.false_negatives = count(is & ~says);
    confusion.true_negatives = count(~is & ~says);
    return confusion;
}

}  // namespace

std::vector<double> weights_of_labels(LabelWeights weights, const std::vector<std::int64_t>& counts) {
    std::vector<double> all(counts.size(), 1.0);
    const std::int64_t most = *std::ranges::max_element(counts);
    for (std::size_t i = 0; weights == LabelWeights::balanced && i < counts.size(); ++i) {
        const double missing =
            static_cast<double>(most) / static_cast<double>(std::max<std::int64_t>(1, counts[i]));
        if (counts[i] > 0) all[i] = std::min(largest_weight, missing);
    }
    return all;
}

Json label_figures(const at::Tensor& probabilities, const at::Tensor& truth) {
    const at::Tensor scores = probabilities.t().contiguous(), called = probabilities.argmax(1);
    const auto bases = static_cast<std::size_t>(scores.size(1));
    std::vector<std::optional<double>> auroc, auprc, f1;
    for (std::int64_t label = 1; label < scores.size(0); ++label) {
        const at::Tensor ones = (truth == label).to(at::kByte);
        if (ones.sum().item<std::int64_t>() < fewest_bases) continue;
        const std::span<const float> of_label(scores[label].const_data_ptr<float>(), bases);
        const std::span<const std::uint8_t> positives(ones.const_data_ptr<std::uint8_t>(), bases);
        auroc.push_back(evaluation::roc_auc(of_label, positives));
        auprc.push_back(evaluation::average_precision(of_label, positives));
        f1.push_back(confusion_of(called, truth, label).f1());
    }
    return {{"eval_auroc", mean_of(auroc)},
            {"eval_auprc", mean_of(auprc)},
            {"eval_f1", mean_of(f1)},
            {"eval_labels", auroc.size()}};
}

TokensTask::TokensTask(std::unique_ptr<TokenLabeller> labeller, const LabelSplits& splits, TokensInfo info,
                       rows::LabelTable labels, const FinetuneTokensSpec& spec, int threads,
                       std::shared_ptr<training::Ranks> ranks)
    : labeller_(std::move(labeller)),
      splits_(splits),
      info_(std::move(info)),
      labels_(std::move(labels)),
      batch_size_(spec.batch_size),
      batch_tokens_(batch_tokens_on(labeller_->device(), spec.batch_tokens, true)),
      seed_(spec.seed),
      both_strands_(spec.both_strands),
      calibrates_(spec.calibrates),
      threads_(threads),
      ranks_(ranks ? std::move(ranks) : std::make_shared<training::Ranks>()),
      gradients_(labeller_->network()->trained_parameters(), *ranks_) {
    const std::vector<std::int64_t>& counts = splits.train.counts();
    if (splits.train.bases() == 0) {
        throw InputError("no base is left to learn from that is neither N nor held out");
    }
    if (counts[0] == splits.train.bases()) {
        throw InputError("no base of train has a label: there is nothing to learn");
    }
    if (spec.batch_size < ranks_->size()) {
        throw ConfigError("--batch-size " + std::to_string(spec.batch_size) + " leaves some of the " +
                          std::to_string(ranks_->size()) + " processes without a window");
    }
    label_weights_ = weights_of_labels(spec.label_weights, counts);
    weights_ = at::tensor(label_weights_, at::kFloat).to(labeller_->device());
    start_at_base_rates();
}

void TokensTask::start_at_base_rates() {
    const at::NoGradGuard no_gradients;
    std::vector<double> rates;
    for (std::size_t i = 0; i < label_weights_.size(); ++i)
        rates.push_back(label_weights_[i] * (static_cast<double>(splits_.train.counts()[i]) + 0.5));
    labeller_->output_bias().copy_(at::log_softmax(at::tensor(rates, at::kDouble).log(), 0));
}

LabelWindow TokensTask::window_of(std::int64_t sample) const {
    const Rng stream = Rng(seed_).split("windows of labels").split(static_cast<std::uint64_t>(sample));
    return splits_.train.draw(stream, info_.window, both_strands_);
}

TokensTask::Batch TokensTask::batch_of(const LabelWindows& source,
                                       std::span<const LabelWindow> windows) const {
    Batch batch;
    batch.windows.resize(windows.size());
    batch.labels.resize(windows.size());
    parallel_for(std::ssize(windows), threads_, [&](std::int64_t i) {
        const auto at = static_cast<std::size_t>(i);
        batch.windows[at] = labeller_->encode(source.sequence(windows[at]));
        batch.labels[at] = source.labels(windows[at]);
    });
    return batch;
}

at::Tensor TokensTask::loss_sum(const at::Tensor& logits, const Batch& batch,
                                std::span<const std::size_t> group, const at::Tensor& weights) const {
    std::vector<at::Tensor> counts;
    for (const std::size_t index : group) {
        counts.push_back(label_counts(batch.windows[index], labeller_->tokenizer(), batch.labels[index],
                                      labeller_->labels(), logits.size(1)));
    }
    const at::Tensor shares = model::copy_to_device(at::stack(counts), labeller_->device());
    return -(shares * weights * at::log_softmax(logits, 2)).sum();
}

double TokensTask::weight_of(std::span<const LabelWindow> windows) const {
    double sum = 0;
    for (const LabelWindow& window : windows) {
        for (const std::int32_t label : splits_.train.labels(window))
            sum += label_weights_[static_cast<std::size_t>(label)];
    }
    return sum;
}

training::StepStats TokensTask::accumulate(std::int64_t step) {
    calibration_.reset();
    module().train();
    std::vector<LabelWindow> all;
    for (std::int64_t i = (step - 1) * batch_size_; i < step * batch_size_; ++i)
        all.push_back(window_of(i));
    const double scale = 1.0 / weight_of(all);
    const std::int64_t begin = batch_size_ * ranks_->rank() / ranks_->size(),
                       end = batch_size_ * (ranks_->rank() + 1) / ranks_->size();
    const Batch batch = batch_of(
        splits_.train,
        std::span(all).subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)));
    model::DropoutKey key{.seed = seed_, .step = step};
    for (std::int64_t sample = begin; sample < end; ++sample)
        key.samples.push_back((step - 1) * batch_size_ + sample);
    training::StepStats stats;
    stats.loss = at::zeros({}, at::TensorOptions().device(labeller_->device()));
    stats.sequences = end - begin;
    for (const EncodedWindow& window : batch.windows)
        stats.tokens += std::ssize(window.ids);
    const auto groups = labeller_->group(batch.windows, batch_tokens_);
    for (const auto& group : groups) {
        const at::Tensor logits = labeller_->logits(batch.windows, group, key);
        const at::Tensor loss = loss_sum(logits, batch, group, weights_) * scale;
        stats.loss += loss.detach();
        if (&group != &groups.back()) {
            loss.backward();
        } else {
            gradients_.backward(loss);
        }
    }
    return stats;
}

void TokensTask::collect(const at::Tensor& logits, const Batch& batch, std::span<const std::size_t> group,
                         std::vector<at::Tensor>& of_bases, std::vector<at::Tensor>& truth) const {
    const at::Tensor values = logits.to(at::kCPU);
    for (std::size_t row = 0; row < group.size(); ++row) {
        const std::vector<std::int32_t>& labels = batch.labels[group[row]];
        const std::vector<TokenSpan> spans = token_spans(batch.windows[group[row]], labeller_->tokenizer());
        std::vector<std::int64_t> tokens, labels_of_bases;
        for (std::size_t token = 0; token < spans.size(); ++token) {
            for (std::int64_t base = spans[token].begin; base < spans[token].end; ++base) {
                const std::int32_t label = labels[static_cast<std::size_t>(base)];
                if (label < 0) continue;
                tokens.push_back(static_cast<std::int64_t>(token));
                labels_of_bases.push_back(label);
            }
        }
        of_bases.push_back(
            values[static_cast<std::int64_t>(row)].index_select(0, at::tensor(tokens, at::kLong)));
        truth.push_back(at::tensor(labels_of_bases, at::kLong));
    }
}

TokensTask::ScoredBases TokensTask::validation_bases() {
    const std::vector<LabelWindow> windows =
        evenly_spaced(splits_.validation.tiles(info_.window, info_.margin), splits_.validation.bases());
    const auto count = std::ssize(windows);
    const std::int64_t first = count * ranks_->rank() / ranks_->size(),
                       last = count * (ranks_->rank() + 1) / ranks_->size();
    std::vector<at::Tensor> logits{at::empty({0, labeller_->labels()})}, truth{at::empty({0}, at::kLong)};
    for (std::int64_t i = first; i < last; i += windows_together) {
        stop_if_asked();
        const auto some = static_cast<std::size_t>(std::min(windows_together, last - i));
        const Batch batch =
            batch_of(splits_.validation, std::span(windows).subspan(static_cast<std::size_t>(i), some));
        for (const auto& group : labeller_->group(batch.windows, batch_tokens_)) {
            collect(labeller_->logits(batch.windows, group), batch, group, logits, truth);
        }
    }
    return {at::cat(logits), at::cat(truth)};
}

TokensTask::ScoredBases TokensTask::of_all_ranks(const ScoredBases& own) const {
    if (ranks_->size() == 1) return own;
    const std::int64_t bases = own.truth.size(0);
    at::Tensor sizes = at::zeros({ranks_->size()}, at::kLong);
    sizes[ranks_->rank()] = bases;
    ranks_->sum(sizes);
    const auto before = sizes.narrow(0, 0, ranks_->rank()).sum().item<std::int64_t>(),
               total = sizes.sum().item<std::int64_t>();
    ScoredBases all{at::zeros({total, labeller_->labels()}), at::zeros({total}, at::kLong)};
    all.logits.narrow(0, before, bases).copy_(own.logits);
    all.truth.narrow(0, before, bases).copy_(own.truth);
    ranks_->sum(all.logits);
    ranks_->sum(all.truth);
    return all;
}

Json TokensTask::evaluate() {
    if (splits_.validation.bases() == 0) return Json::object();
    const at::NoGradGuard no_gradients;
    module().eval();
    const ScoredBases bases = of_all_ranks(validation_bases());
    // The first rank writes the model.
    if (calibrates_ && ranks_->rank() == 0) {
        calibration_ = fit_softmax_on_validation(bases.logits, bases.truth, threads_);
    }
    const at::Tensor probabilities = bases.logits.softmax(1);
    const at::Tensor chosen =
        probabilities.gather(1, bases.truth.unsqueeze(1)).to(at::kDouble).clamp_min(1e-30);
    Json figures = Json::object();
    figures["eval_loss"] = -chosen.log().mean().item<double>();
    figures.update(label_figures(probabilities, bases.truth));
    return figures;
}

void TokensTask::write_model(const fs::path& directory) {
    model::write_model(labeller_->network(), &labeller_->tokenizer(), directory,
                       {{"task_model", to_json(info_)}});
    std::ofstream out(directory / "labels.tsv", std::ios::binary);
    out << labels_.to_text();
    if (!out.flush()) throw WriteError((directory / "labels.tsv").string() + ": writing failed");
    if (calibration_) write_calibration(*calibration_, directory);
}

}  // namespace bigbird::task_models
