// SPDX-License-Identifier: Apache-2.0
#include "bigbird/finetuning/train_probe.hpp"

#include "bigbird/baselines/window/logistic.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/core/progress.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/finetuning/example_data.hpp"
#include "bigbird/finetuning/run_plan.hpp"
#include "bigbird/model/device/device.hpp"
#include "bigbird/model/model_directory.hpp"
#include "bigbird/tasks/bigbird_network.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <functional>

namespace bigbird::tasks {

namespace {

using baselines::LinearScores;
using examples::Split;
using examples::TargetKind;

constexpr std::int64_t folds = 5, rows_at_once_of_probe = 256;
constexpr double costs[] = {1e-4, 1e-3, 1e-2, 1e-1, 1, 10};
constexpr double ridge_penalties[] = {1e2, 1e1, 1, 1e-1, 1e-2, 1e-3};

/// The pretrained network with a linear head of `labels` outputs, (labels, hidden) and (labels).
std::shared_ptr<TaskNetwork> network_with(const FinetuneSpec& spec, const TaskInfo& info,
                                          const std::filesystem::path& pretrained, const LinearScores& head,
                                          const Job& job) {
    FinetuneSpec own = spec;
    own.head = "probe";
    const model::BigBirdConfig config =
        classifier_config(own, pretrained, static_cast<std::size_t>(head.weight.size(0)));
    model::SequenceClassifier network =
        model::classifier_from_pretrained(pretrained, config, spec.seed, job.device);
    {
        const at::NoGradGuard no_gradients;
        network->named_parameters()["classifier.out_proj.weight"].copy_(head.weight);
        network->named_parameters()["classifier.out_proj.bias"].copy_(head.bias);
    }
    return bigbird_windows(std::move(network), model::read_tokenizer(pretrained, config), info.pooling,
                           info.window, job.computing);
}

/// Embeddings (rows, hidden) float32 and truth of rows.
struct Embedded {
    at::Tensor features, truth;
};

class Embedder {
public:
    Embedder(const FinetuneSpec& spec, const TaskInfo& info, const examples::ExampleSet& examples,
             const std::filesystem::path& pretrained, const Job& job)
        : info_(info), examples_(examples), job_(job) {
        const std::int64_t hidden = model::read_config(pretrained).hidden_size;
        // A head that copies its input: logits are embeddings.
        network_ = network_with(spec, info, pretrained, {at::eye(hidden), at::zeros({hidden})}, job);
    }
    Embedded of(Split split, const std::optional<Standardisation>& standardisation) const {
        const std::vector<std::int64_t> rows = examples_.rows(split);
        Progress progress("Embedding", "rows", std::ssize(rows));
        std::vector<at::Tensor> features;
        for (std::int64_t begin = 0; begin < std::ssize(rows); begin += rows_at_once_of_probe) {
            stop_if_asked();
            const std::int64_t count = std::min(rows_at_once_of_probe, std::ssize(rows) - begin);
            std::vector<EncodedWindow> windows(static_cast<std::size_t>(count));
            parallel_for(count, job_.threads, [&](std::int64_t i) {
                windows[static_cast<std::size_t>(i)] =
                    network_->encode(read(rows[static_cast<std::size_t>(begin + i)]));
            });
            features.push_back(batched_logits(*network_, windows, job_.batch_tokens).flatten(0, 1));
            progress.update(begin + count);
        }
        progress.finish();
        if (features.empty()) return {};
        at::Tensor truth = targets_of_rows(examples_, rows, standardisation).flatten(0, 1);
        if (examples_.target() == TargetKind::classes) truth = truth.argmax(1);
        return {at::cat(features), truth};
    }

private:
    std::string read(std::int64_t row) const {
        const std::string whole = examples_.sequence(row);
        if (info_.traits().has_records) return whole;
        return std::string(cut_window(whole, examples_.bounds(), info_.window));
    }

    const TaskInfo& info_;
    const examples::ExampleSet& examples_;
    Job job_;
    std::shared_ptr<TaskNetwork> network_;
};

/// Fits rows at a penalty, by its index, beginning where the one before ended (null: at 0).
using Fit = std::function<LinearScores(const at::Tensor& features, const at::Tensor& truth,
                                       std::size_t penalty, const LinearScores* before)>;
using Loss = std::function<double(const at::Tensor& scores, const at::Tensor& truth)>;

/// The index of the penalty with the lowest loss on folds that are not fitted.
std::size_t best_penalty(const Embedded& train, std::size_t penalties, std::uint64_t seed, const Fit& fit,
                         const Loss& loss) {
    const std::int64_t rows = train.features.size(0);
    std::vector<std::int64_t> fold_of(static_cast<std::size_t>(rows));
    std::int64_t next = 0;
    for (const std::int64_t row : epoch_order(rows, seed, 0))
        fold_of[static_cast<std::size_t>(row)] = next++ % folds;
    const at::Tensor fold = at::tensor(fold_of, at::kLong);
    std::vector<double> losses(penalties, 0);
    Progress progress("Cross-validation", "folds", folds);
    for (std::int64_t held_out = 0; held_out < folds; ++held_out) {
        const at::Tensor inside = fold.ne(held_out).nonzero().squeeze(1),
                         outside = fold.eq(held_out).nonzero().squeeze(1);
        const auto part = [](const at::Tensor& all, const at::Tensor& which) {
            return all.index_select(0, which);
        };
        const at::Tensor x = part(train.features, inside), y = part(train.truth, inside);
        const at::Tensor other_x = part(train.features, outside), other_y = part(train.truth, outside);
        LinearScores solved;
        for (std::size_t i = 0; i < penalties; ++i) {
            solved = fit(x, y, i, i > 0 ? &solved : nullptr);
            losses[i] += loss(at::linear(other_x.to(at::kDouble), solved.weight, solved.bias), other_y);
        }
        progress.update(held_out + 1);
    }
    progress.finish();
    return static_cast<std::size_t>(std::ranges::min_element(losses) - losses.begin());
}

/// Turns weights of standardized features into those of features.
LinearScores unscaled(const LinearScores& scores, const at::Tensor& mean, const at::Tensor& deviation) {
    const at::Tensor weight = scores.weight / deviation;
    return {weight, scores.bias - at::mv(weight, mean)};
}

struct Fitted {
    LinearScores scores;
    double cost = 0;
};

Fitted fit_numbers(const Embedded& train, std::int64_t labels, std::uint64_t seed) {
    const Fit fit = [&](const at::Tensor& x, const at::Tensor& y, std::size_t penalty, const LinearScores*) {
        baselines::Ridge ridge(x.size(1), labels);
        ridge.add(x, y);
        return ridge.solve(ridge_penalties[penalty]);
    };
    const Loss loss = [](const at::Tensor& scores, const at::Tensor& y) {
        return (scores - y).square().mean().item<double>();
    };
    const std::size_t best =
        train.features.size(0) < folds ? 0 : best_penalty(train, std::size(ridge_penalties), seed, fit, loss);
    return {fit(train.features, train.truth, best, nullptr), ridge_penalties[best]};
}

Fitted fit_classes(Embedded train, std::int64_t labels, ProbeKind kind, std::uint64_t seed) {
    const bool two = train.truth.dim() == 1 && labels == 2;  // one score, as in scikit-learn
    if (two) train.truth = train.truth.unsqueeze(1);
    const std::int64_t outputs = two ? 1 : labels;
    at::Tensor x = train.features.to(at::kDouble), mean = at::zeros({x.size(1)}, x.options()),
               deviation = at::ones_like(mean);
    if (kind == ProbeKind::best) {
        mean = x.mean(0);
        deviation = x.std(0, /*unbiased=*/false);
        deviation = at::where(deviation > 0, deviation, at::ones_like(deviation));
        train.features = x = (x - mean) / deviation;
    }
    const Fit fit = [&](const at::Tensor& some, const at::Tensor& y, std::size_t cost,
                        const LinearScores* before) {
        return baselines::fit_logistic(some, y, outputs, costs[cost], before);
    };
    double cost = 1;
    if (kind == ProbeKind::best && x.size(0) >= folds)
        cost = costs[best_penalty(train, std::size(costs), seed, fit, baselines::logistic_loss)];
    LinearScores scores = unscaled(baselines::fit_logistic(x, train.truth, outputs, cost), mean, deviation);
    if (two)
        scores = {at::cat({scores.weight / -2, scores.weight / 2}),
                  at::cat({scores.bias / -2, scores.bias / 2})};
    return {std::move(scores), cost};
}

}  // namespace

SolvedModel train_probe(const FinetuneSpec& spec, const TaskInfo& info, const examples::ExampleSet& examples,
                        const std::filesystem::path& pretrained, int threads) {
    const bool numbers = examples.target() == TargetKind::numbers;
    if (numbers && spec.probe == ProbeKind::geneb)
        throw ConfigError("--probe geneb is for classes and labels: the examples have numbers");
    if (examples.rows(Split::train).empty())
        throw InputError("no row is for training: build the examples again with more for training");
    const at::Device device = model::open_device(spec.device);
    const Job job{device, parse_compute_options(spec.dtype, device),
                  batch_tokens_on(device, spec.batch_tokens), threads};
    const auto labels = static_cast<std::int64_t>(examples.label_table().size());
    Embedded train, validation;
    {
        const Embedder embedder(spec, info, examples, pretrained, job);
        train = embedder.of(Split::train, info.standardisation);
        validation = embedder.of(Split::validation, info.standardisation);
    }
    log_info("{} to learn from, {} for validation; {}", bigbird::counted(train.features.size(0), "row"),
             validation.features.defined() ? validation.features.size(0) : 0,
             bigbird::counted(train.features.size(1), "feature"));
    const Fitted fitted =
        numbers ? fit_numbers(train, labels, spec.seed) : fit_classes(train, labels, spec.probe, spec.seed);
    SolvedModel result;
    result.metrics = {
        {"step", 1}, {"features", train.features.size(1)}, {numbers ? "penalty" : "cost", fitted.cost}};
    if (validation.features.defined()) {
        const at::Tensor logits =
            at::linear(validation.features.to(at::kDouble), fitted.scores.weight, fitted.scores.bias)
                .to(at::kFloat);
        const auto target = target_of(examples, spec, spec.sequence, at::kCPU);
        double loss = 0;  // not used with softmax
        if (target->link() != LinkFunction::softmax)
            loss = target->loss_sum(logits.unsqueeze(1), validation.truth.unsqueeze(1), {}).item<double>() /
                   static_cast<double>(logits.numel());
        result.metrics.update(target->figures(logits, validation.truth, loss));
        if (!numbers) result.calibration = fit_on_validation(logits, validation.truth, threads, info.link());
    }
    result.network = network_with(spec, info, pretrained, fitted.scores, job);
    return result;
}

}  // namespace bigbird::tasks
