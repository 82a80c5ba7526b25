// SPDX-License-Identifier: Apache-2.0
#include "bigbird/finetuning/train_linear.hpp"

#include "bigbird/baselines/window/base_codes.hpp"
#include "bigbird/baselines/window/linear_svm.hpp"
#include "bigbird/baselines/window/ridge.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/core/progress.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/finetuning/example_data.hpp"
#include "bigbird/tasks/files/task_files.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <limits>
#include <map>

namespace bigbird::tasks {

namespace {

using examples::Split;
using examples::TargetKind;

constexpr std::int64_t chunk = 512;  // windows whose features are held at once
constexpr int usual_word = 5;
constexpr double penalties[] = {1e-3, 1e-2, 1e-1, 1, 10, 100, 1000};

/// Calls use() with each `size` of the rows.
template <typename Use>
void for_chunks(std::span<const std::int64_t> rows, std::int64_t size, const char* unit, const Use& use) {
    Progress progress("Counting k-mers", unit, std::ssize(rows));
    for (std::int64_t begin = 0; begin < std::ssize(rows); begin += size) {
        stop_if_asked();
        const std::int64_t end = std::min<std::int64_t>(std::ssize(rows), begin + size);
        use(rows.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)));
        progress.update(end);
    }
    progress.finish();
}

/// Trains labels, from `first` on, one after the other. labels: (labels, rows) of 0 and 1.
template <typename SpecOf>
baselines::LinearScores train_each(const baselines::LinearSvm& svm, const at::Tensor& labels,
                                   std::int64_t first, const SpecOf& spec_of) {
    std::vector<at::Tensor> weights, biases;
    for (std::int64_t label = first; label < labels.size(0); ++label) {
        stop_if_asked();
        const std::span<const std::uint8_t> ones(
            labels.const_data_ptr<std::uint8_t>() + label * labels.size(1),
            static_cast<std::size_t>(labels.size(1)));
        const baselines::LinearScores solved = svm.train(ones, spec_of(label, ones));
        weights.push_back(solved.weight);
        biases.push_back(solved.bias);
    }
    return {at::stack(weights), at::stack(biases)};
}

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
        return targets_of_rows(examples_, rows, std::nullopt).squeeze(1);
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

void say_left_out(std::int64_t rows) {
    if (rows > 0)
        log_warning("left out of train, since they are N or too short: {}", bigbird::counted(rows, "row"));
}

/// Logits and truth, (rows, labels), float32 and 0 or 1; undefined without rows.
ScoredRows score(const Features& features, std::span<const std::int64_t> rows,
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

baselines::LinearScores solve_ridge(const Features& features, std::span<const std::int64_t> train,
                                    std::span<const std::int64_t> validation, std::int64_t labels,
                                    Json& metrics) {
    baselines::Ridge ridge(features.size(), labels);
    for_chunks(train, chunk, "windows",
               [&](auto rows) { ridge.add(features.of(rows), features.labels(rows)); });
    double best_penalty = 1e-2, best = -1;
    for (const double penalty : penalties) {
        if (validation.empty()) break;
        const ScoredRows scored = score(features, validation, ridge.solve(penalty));
        const auto auroc = validation_auroc(scored.logits, scored.truth).mean;
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
    for_chunks(rows, chunk, "windows", [&](auto some) {
        const at::Tensor x = features.of(some);
        for (std::int64_t i = 0; i < x.size(0); ++i)
            svm.add(
                {x.const_data_ptr<float>() + i * features.size(), static_cast<std::size_t>(features.size())});
    });
    log_info("{:.1f} GB of features", static_cast<double>(svm.bytes()) / 1e9);
    const at::Tensor labels = features.labels(rows).t().contiguous();  // (labels, rows)
    Progress progress("Training", "labels", labels.size(0));
    auto all = train_each(svm, labels, 0, [&](std::int64_t label, std::span<const std::uint8_t> ones) {
        if (label > 0) progress.update(label);
        const double balanced = balanced_weight(std::ranges::count(ones, std::uint8_t{1}), std::ssize(rows));
        return baselines::SvmSpec{.positive_weight = positive_weight.value_or(balanced)};
    });
    progress.update(labels.size(0));
    progress.finish();
    return all;
}

}  // namespace

SolvedModel train_linear(TaskInfo& info, const examples::ExampleSet& examples, const LinearSpec& spec,
                         const std::optional<double>& positive_weight, std::uint64_t seed, int threads) {
    const bool is_svm = info.row().takes("--most-windows");
    const KmerSpec kmers{.word = spec.word > 0 ? spec.word
                                 : is_svm      ? 8
                                               : usual_word,
                         .informative = spec.informative > 0       ? spec.informative
                                        : spec.word > 0 && !is_svm ? spec.word
                                                                   : usual_word,
                         .unit_length = is_svm};
    info.network = to_json(kmers);
    const Features features(info, examples, kmers, threads);
    const std::vector<std::int64_t> train = usable_rows(info, examples, Split::train);
    const std::vector<std::int64_t> validation = usable_rows(info, examples, Split::validation);
    if (train.empty()) {
        throw InputError(
            "no window of train has a base other than N: build the examples again with more for training");
    }
    const auto labels = static_cast<std::int64_t>(examples.label_table().size());
    log_info("{} to learn from, {} for validation, {}; {}", bigbird::counted(train.size(), "window"),
             validation.size(), bigbird::counted(labels, "label"),
             bigbird::counted(features.size(), "feature"));
    say_left_out(std::ssize(examples.rows(Split::train)) - std::ssize(train));
    SolvedModel result;
    result.metrics = {{"step", 1}, {"features", features.size()}};
    baselines::LinearScores solved =
        is_svm ? solve_svm(features, spec, positive_weight, train, examples, seed, result.metrics)
               : solve_ridge(features, train, validation, labels, result.metrics);
    if (!is_svm) {  // converts estimates of 0/1 targets to logits, by the tangent of the sigmoid at 1/2
        solved.weight = 4 * solved.weight;
        solved.bias = 4 * (solved.bias - 0.5);
    }
    if (!validation.empty()) {
        const ScoredRows scored = score(features, validation, solved);
        const evaluation::Summary auroc = validation_auroc(scored.logits, scored.truth);
        result.metrics["eval_auroc"] = auroc.mean ? Json(*auroc.mean) : Json(nullptr);
        result.metrics["eval_auroc_labels"] = auroc.defined;
        result.calibration = fit_on_validation(scored.logits, scored.truth, threads);
    }
    result.network = linear_network(info, solved.weight, solved.bias, at::kCPU);
    return result;
}

namespace {

constexpr std::int64_t most_positions = 1024, most_ridge_positions = 128, ridge_records_at_once = 2048;
constexpr std::int64_t scoring_tokens = 1 << 20;
constexpr double tolerance = 1e-3;
// How much better k-mers by strand and position must be (chosen_strand()).
constexpr double clearly_higher = 0.01, clearly_less = 0.99;

/// Rows that have a letter other than N, and their features.
struct CountedRows {
    std::vector<std::int64_t> rows;
    std::vector<std::vector<baselines::Feature>> features;
};

CountedRows counted(const examples::ExampleSet& examples, std::span<const std::int64_t> rows,
                    const baselines::KmerCounts& counts, int threads) {
    std::vector<std::vector<baselines::Feature>> features(rows.size());
    parallel_for(std::ssize(rows), threads, [&](std::int64_t i) {
        const auto index = static_cast<std::size_t>(i);
        features[index] = counts.count(baselines::base_codes(examples.sequence(rows[index])));
    });
    CountedRows all;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (features[i].empty()) continue;
        all.rows.push_back(rows[i]);
        all.features.push_back(std::move(features[i]));
    }
    return all;
}

/// `two_classes`: the labels exclude each other.
baselines::LinearScores solve_logistic(const baselines::LinearSvm& svm, const at::Tensor& labels,
                                       bool two_classes, double penalty) {
    const baselines::SvmSpec spec{
        .loss = baselines::MarginLoss::logistic, .cost = 1 / penalty, .tolerance = tolerance};
    const auto all = train_each(svm, labels, two_classes ? 1 : 0, [&](auto, auto) { return spec; });
    if (!two_classes) return all;
    // The softmax of two halves is the sigmoid of their difference.
    return {at::cat({all.weight / -2, all.weight / 2}), at::cat({all.bias / -2, all.bias / 2})};
}

/// Adds the rows of train in chunks, and returns their number.
std::int64_t add_rows(const examples::ExampleSet& examples, const baselines::KmerCounts& counts, int threads,
                      const std::optional<Standardisation>& standardisation, baselines::Ridge& ridge) {
    std::int64_t added = 0;
    for_chunks(examples.rows(Split::train), ridge_records_at_once, "records", [&](auto rows) {
        const CountedRows some = counted(examples, rows, counts, threads);
        at::Tensor x = at::zeros({std::ssize(some.rows), counts.size()});
        auto* out = x.mutable_data_ptr<float>();
        for (const std::vector<baselines::Feature>& row : some.features) {
            for (const baselines::Feature& feature : row)
                out[feature.index] = feature.value;
            out += counts.size();
        }
        if (!some.rows.empty())
            ridge.add(x, targets_of_rows(examples, some.rows, standardisation).flatten(1));
        added += std::ssize(some.rows);
    });
    return added;
}

/// The penalties to compare on validation.
std::vector<double> penalties_of(bool ridge, bool has_validation) {
    if (!has_validation) return {ridge ? 1.0 : 30.0};
    if (ridge) return {1e-2, 1e-1, 1, 10, 100};
    return {300, 100, 30, 10, 3};
}

/// The loss on some rows; lower is better.
double loss_on(const examples::ExampleSet& examples, const ScoredRows& rows) {
    if (examples.target() == TargetKind::numbers)
        return (rows.logits - rows.truth).square().mean().item<double>();
    at::Tensor ones = rows.truth, scores = rows.logits;
    if (examples.target() == TargetKind::classes) {
        ones = rows.truth.unsqueeze(1) == at::arange(scores.size(1));
        if (scores.size(1) == 2) {  // the scores of two classes are each other's negatives
            scores = scores.narrow(1, 1, 1);
            ones = ones.narrow(1, 1, 1);
        }
    }
    return 1 - validation_auroc(scores.contiguous(), ones.contiguous()).mean.value_or(0);
}

}  // namespace

baselines::KmerWords words_for(const examples::ExampleSet& examples, RecordStrand strand, int word,
                               bool ridge) {
    baselines::KmerWords words;
    words.both_strands = strand != RecordStrand::given;
    // The time of ridge regression grows with the cube of the number of features.
    if (ridge && !words.both_strands) words.lengths = {5};
    if (word > 0) words.lengths = {word};
    if (!words.both_strands)
        words.positions =
            std::min(examples.bounds().size() - 1, ridge ? most_ridge_positions : most_positions);
    return words;
}

namespace {

KmerFit solve_kmers(const examples::ExampleSet& examples, int word, RecordStrand strand,
                    const std::optional<Standardisation>& standardisation, int threads) {
    const bool ridge = examples.target() == TargetKind::numbers;
    const baselines::KmerWords words = words_for(examples, strand, word, ridge);
    const baselines::KmerCounts counts(words);
    const std::vector<std::int64_t> validation = examples.rows(Split::validation);
    const std::vector<double> to_try = penalties_of(ridge, !validation.empty());
    std::optional<baselines::Ridge> by_ridge;
    baselines::LinearSvm svm(counts.size());
    at::Tensor labels;  // (labels, rows), of svm
    const bool two_classes = examples.target() == TargetKind::classes && examples.label_table().size() == 2;
    std::int64_t records = 0;
    if (ridge) {
        by_ridge.emplace(counts.size(), static_cast<std::int64_t>(examples.label_table().size()));
        records = add_rows(examples, counts, threads, standardisation, *by_ridge);
    } else {
        const CountedRows train = counted(examples, examples.rows(Split::train), counts, threads);
        records = std::ssize(train.rows);
        for (const auto& row : train.features)
            svm.add(row);
        labels = targets_of_rows(examples, train.rows, std::nullopt).squeeze(1).t().contiguous();
    }
    if (records == 0) {
        throw InputError(
            "no record of train has a k-mer without N: build the examples again with more for training");
    }
    log_info("{} to learn from, {} for validation; {}", bigbird::counted(records, "record"),
             validation.size(), bigbird::counted(counts.size(), "feature"));
    say_left_out(std::ssize(examples.rows(Split::train)) - records);
    KmerFit best;
    double least = std::numeric_limits<double>::infinity();
    Progress progress("Fitting", "penalties", std::ssize(to_try));
    for (std::size_t i = 0; i < to_try.size(); ++i) {
        stop_if_asked();
        const baselines::LinearScores solved =
            ridge ? by_ridge->solve(to_try[i]) : solve_logistic(svm, labels, two_classes, to_try[i]);
        auto network = kmer_network(words, solved.weight, solved.bias, at::kCPU);
        double loss = 0;
        if (to_try.size() > 1) {
            loss = loss_on(examples, scored_records(*network, examples, validation, standardisation,
                                                    scoring_tokens, threads));
        }
        if (loss < least) {
            least = loss;
            best = {std::move(network), to_try[i], loss};
        }
        progress.update(static_cast<std::int64_t>(i + 1));
    }
    progress.finish();
    return best;
}

}  // namespace

KmerFit fit_kmers(const examples::ExampleSet& examples, int word, RecordStrand strand,
                  const std::optional<Standardisation>& standardisation, int threads) {
    // The choice of the strand, the model and the floor of train ask for the same fits.
    static std::map<std::string, KmerFit> known;
    const std::string key =
        Json{examples.manifest(), word, strand, threads, standardisation.has_value()}.dump();
    if (!known.contains(key))
        known.emplace(key, solve_kmers(examples, word, strand, standardisation, threads));
    return known.at(key);
}

RecordStrand chosen_strand(const examples::ExampleSet& examples, RecordStrand strand,
                           const std::optional<Standardisation>& standardisation, int threads) {
    if (strand != RecordStrand::automatic) return strand;
    if (examples.rows(Split::validation).empty() || examples.traits().has_bins) return RecordStrand::both;
    const auto loss_by = [&](RecordStrand by) {
        return fit_kmers(examples, 0, by, standardisation, threads).loss;
    };
    const bool numbers = examples.target() == TargetKind::numbers;
    const double both = loss_by(RecordStrand::both), given = loss_by(RecordStrand::given);
    const bool better = numbers ? given < clearly_less * both : given < both - clearly_higher;
    log_info("{} of k-mers on validation: {:.3f} of both strands, {:.3f} by strand and place. --strand {}",
             numbers ? "Squared error" : "AUROC", numbers ? both : 1 - both, numbers ? given : 1 - given,
             better ? "given" : "both");
    return better ? RecordStrand::given : RecordStrand::both;
}

double ridge_seconds(const examples::ExampleSet& examples) {
    constexpr std::int64_t tried = 4 * chunk;
    const std::int64_t features =
        examples.target() == TargetKind::numbers
            ? baselines::KmerCounts(words_for(examples, RecordStrand::both, 0, true)).size()
            : static_cast<std::int64_t>(baselines::GappedKmers(usual_word, usual_word).size());
    const auto targets = static_cast<std::int64_t>(examples.label_table().size());
    const at::Tensor x = at::rand({tried, features}), y = at::zeros({tried, targets});
    baselines::Ridge ridge(features, targets);
    const double adding = seconds_of([&] { ridge.add(x, y); });
    const auto rows = static_cast<double>(examples.rows(Split::train).size());
    return adding * rows / tried + seconds_of([&] { ridge.solve(1); });
}

training::Solution solution_of(SolvedModel solved, TaskInfo info,
                               std::shared_ptr<const examples::ExampleSet> examples, bool calibrates) {
    if (calibrates && !solved.calibration && gives_probabilities(info.link()) &&
        !examples->rows(Split::validation).empty())
        log_info("scores are not calibrated: {}", too_few_to_calibrate());
    Json metrics = solved.metrics;
    return {std::move(metrics), [=](const std::filesystem::path& folder) {
                solved.network->write(info, folder);
                write_labels(examples->label_table(), folder);
                if (calibrates && solved.calibration) write_calibration(*solved.calibration, folder);
            }};
}

}  // namespace bigbird::tasks
