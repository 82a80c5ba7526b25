// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/train/train_linear.hpp"

#include "bigbird/baselines/window/base_codes.hpp"
#include "bigbird/baselines/window/linear_svm.hpp"
#include "bigbird/baselines/window/ridge.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/core/progress.hpp"
#include "bigbird/task_models/train/example_data.hpp"

#include <ATen/ATen.h>

#include <algorithm>

namespace bigbird::task_models {

namespace {

constexpr std::int64_t chunk = 512;  // windows whose features are held at once
constexpr double penalties[] = {1e-3, 1e-2, 1e-1, 1, 10, 100, 1000};

/// Features of rows of an example set.
class Features {
public:
    Features(const TaskInfo& info, const examples::ExampleSet& examples, const KmerSpec& spec, int threads)
        : info_(info),
          examples_(examples),
          spec_(spec),
          kmers_(spec.word, spec.informative),
          threads_(threads) {}

    std::int64_t size() const { return static_cast<std::int64_t>(kmers_.size()); }
    /// (rows, features) float32.
    at::Tensor of(std::span<const std::int64_t> rows) const {
        at::Tensor x = at::empty({std::ssize(rows), size()});
        float* out = x.mutable_data_ptr<float>();
        parallel_for(std::ssize(rows), threads_, [&](std::int64_t i) {
            const std::string whole = examples_.sequence(rows[static_cast<std::size_t>(i)]);
            const auto codes = baselines::base_codes(cut_window(whole, examples_.bounds(), info_.window));
            kmer_features(kmers_, spec_, codes, {out + i * size(), kmers_.size()});
        });
        return x;
    }
    /// (rows, labels) uint8.
    at::Tensor labels(std::span<const std::int64_t> rows) const {
        const std::size_t count = examples_.label_table().size();
        at::Tensor y = at::empty({std::ssize(rows), static_cast<std::int64_t>(count)}, at::kByte);
        auto* out = y.mutable_data_ptr<std::uint8_t>();
        for (const std::int64_t row : rows) {
            examples_.copy_labels(row, {out, count});
            out += count;
        }
        return y;
    }
    /// Calls use() with each chunk of rows.
    template <typename Use>
    void for_chunks(std::span<const std::int64_t> rows, const char* title, const Use& use) const {
        Progress progress(title, "windows", std::ssize(rows));
        for (std::int64_t begin = 0; begin < std::ssize(rows); begin += chunk) {
            stop_if_asked();
            const std::int64_t end = std::min<std::int64_t>(std::ssize(rows), begin + chunk);
            use(rows.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)));
            progress.update(end);
        }
        progress.finish();
    }

private:
    const TaskInfo& info_;
    const examples::ExampleSet& examples_;
    KmerSpec spec_;
    baselines::GappedKmers kmers_;
    int threads_;
};

/// Rows whose window is not only N.
std::vector<std::int64_t> usable_rows(const TaskInfo& info, const examples::ExampleSet& examples,
                                      examples::Split split) {
    std::vector<std::int64_t> rows = examples.rows(split);
    std::erase_if(rows, [&](std::int64_t row) {
        const std::string whole = examples.sequence(row);
        const auto dna = cut_window(whole, examples.bounds(), info.window);
        return dna.find_first_not_of('N') == std::string_view::npos;
    });
    return rows;
}

struct Scored {
    at::Tensor scores, truth;  ///< (rows, labels), float32 and 0 or 1
};

Scored score(const Features& features, std::span<const std::int64_t> rows,
             const baselines::LinearScores& model) {
    std::vector<at::Tensor> scores, truth;
    for (std::int64_t begin = 0; begin < std::ssize(rows); begin += chunk) {
        const auto some = rows.subspan(static_cast<std::size_t>(begin),
                                       static_cast<std::size_t>(std::min(chunk, std::ssize(rows) - begin)));
        scores.push_back(at::linear(features.of(some).to(at::kDouble), model.weight, model.bias));
        truth.push_back(features.labels(some));
    }
    if (scores.empty()) return {};
    return {at::cat(scores).to(at::kFloat), at::cat(truth)};
}

evaluation::Summary auroc_of(const Features& features, std::span<const std::int64_t> rows,
                             const baselines::LinearScores& model) {
    const Scored scored = score(features, rows, model);
    return scored.scores.defined() ? validation_auroc(scored.scores, scored.truth) : evaluation::Summary();
}

baselines::LinearScores solve_ridge(const Features& features, const LinearSpec& spec,
                                    std::span<const std::int64_t> train,
                                    std::span<const std::int64_t> validation, std::int64_t labels,
                                    Json& metrics) {
    baselines::Ridge ridge(features.size(), labels);
    features.for_chunks(train, "Counting k-mers",
                        [&](auto rows) { ridge.add(features.of(rows), features.labels(rows)); });
    double best_penalty = spec.penalty > 0 ? spec.penalty : 1e-2, best = -1;
    for (const double penalty : penalties) {
        if (spec.penalty > 0) break;
        const auto auroc = auroc_of(features, validation, ridge.solve(penalty)).mean;
        if (auroc && *auroc > best) {
            best = *auroc;
            best_penalty = penalty;
        }
    }
    metrics["penalty"] = best_penalty;
    return ridge.solve(best_penalty);
}

/// At most `most` of the rows, ascending. Rows with a label get up to half of them.
std::vector<std::int64_t> drawn_rows(std::span<const std::int64_t> rows, const examples::ExampleSet& examples,
                                     std::int64_t most, std::uint64_t seed) {
    if (std::ssize(rows) <= most) return {rows.begin(), rows.end()};
    std::vector<std::int64_t> with_label, without;
    for (const std::int64_t place : epoch_order(std::ssize(rows), seed, 0)) {
        const std::int64_t row = rows[static_cast<std::size_t>(place)];
        const auto labels = examples.labels(row);
        (std::ranges::find(labels, std::uint8_t{1}) != labels.end() ? with_label : without).push_back(row);
    }
    const std::int64_t positives =
        std::min(std::ssize(with_label), std::max(most / 2, most - std::ssize(without)));
    with_label.resize(static_cast<std::size_t>(positives));
    without.resize(static_cast<std::size_t>(std::min(std::ssize(without), most - positives)));
    with_label.insert(with_label.end(), without.begin(), without.end());
    std::ranges::sort(with_label);
    return with_label;
}

baselines::LinearScores solve_svm(const Features& features, const LinearSpec& spec,
                                  const std::optional<double>& positive_weight,
                                  std::span<const std::int64_t> train, const examples::ExampleSet& examples,
                                  std::uint64_t seed, Json& metrics) {
    const std::vector<std::int64_t> rows = drawn_rows(train, examples, spec.most_windows, seed);
    metrics["windows"] = rows.size();
    if (std::ssize(rows) < std::ssize(train))
        log_info("{} of {} windows are learnt from (--most-windows)", rows.size(), train.size());
    baselines::LinearSvm svm(features.size());
    features.for_chunks(rows, "Counting k-mers", [&](auto some) {
        const at::Tensor x = features.of(some);
        for (std::int64_t i = 0; i < x.size(0); ++i)
            svm.add(
                {x.const_data_ptr<float>() + i * features.size(), static_cast<std::size_t>(features.size())});
    });
    log_info("{:.1f} GB of features", static_cast<double>(svm.bytes()) / 1e9);
    const at::Tensor labels = features.labels(rows).t().contiguous();  // (labels, rows)
    std::vector<at::Tensor> weights, biases;
    Progress progress("Training", "labels", labels.size(0));
    for (std::int64_t label = 0; label < labels.size(0); ++label) {
        stop_if_asked();
        const std::span<const std::uint8_t> ones(
            labels.const_data_ptr<std::uint8_t>() + label * std::ssize(rows), rows.size());
        const double balanced = balanced_weight(std::ranges::count(ones, std::uint8_t{1}), std::ssize(rows));
        const auto solved =
            svm.train(ones, {.cost = spec.cost, .positive_weight = positive_weight.value_or(balanced)});
        weights.push_back(solved.weight);
        biases.push_back(solved.bias);
        progress.update(label + 1);
    }
    progress.finish();
    return {at::stack(weights), at::stack(biases)};
}

}  // namespace

LinearTraining train_linear(TaskInfo& info, const examples::ExampleSet& examples, const LinearSpec& spec,
                            const std::optional<double>& positive_weight, std::uint64_t seed, int threads) {
    const bool is_svm = info.architecture == "gkm-svm";
    const KmerSpec kmers{.word = spec.word > 0 ? spec.word
                                 : is_svm      ? 8
                                               : 5,
                         .informative = spec.informative > 0       ? spec.informative
                                        : spec.word > 0 && !is_svm ? spec.word
                                                                   : 5,
                         .unit_length = is_svm};
    info.network = to_json(kmers);
    const Features features(info, examples, kmers, threads);
    const std::vector<std::int64_t> train = usable_rows(info, examples, examples::Split::train);
    const std::vector<std::int64_t> validation = usable_rows(info, examples, examples::Split::validation);
    if (train.empty()) {
        throw InputError(
            "--examples holds no window of train that can be used; build it again with a larger "
            "part for training");
    }
    const auto labels = static_cast<std::int64_t>(examples.label_table().size());
    log_info("{} windows to learn from, {} for validation, {} label{}; {} features", train.size(),
             validation.size(), labels, labels == 1 ? "" : "s", features.size());
    LinearTraining result;
    result.metrics = {{"step", 1}, {"features", features.size()}};
    baselines::LinearScores solved =
        is_svm ? solve_svm(features, spec, positive_weight, train, examples, seed, result.metrics)
               : solve_ridge(features, spec, train, validation, labels, result.metrics);
    if (!is_svm) {  // converts estimates of 0/1 targets to logits, by the tangent of the sigmoid at 1/2
        solved.weight = 4 * solved.weight;
        solved.bias = 4 * (solved.bias - 0.5);
    }
    if (!validation.empty()) {
        const Scored scored = score(features, validation, solved);
        const evaluation::Summary auroc = validation_auroc(scored.scores, scored.truth);
        result.metrics["eval_auroc"] = auroc.mean ? Json(*auroc.mean) : Json(nullptr);
        result.metrics["eval_auroc_labels"] = auroc.defined;
        result.calibration = fit_on_validation(scored.scores, scored.truth, threads);
    }
    result.network = linear_network(info, solved.weight, solved.bias, at::kCPU);
    return result;
}

}  // namespace bigbird::task_models
