// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/train/train_kmers.hpp"

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
#include <limits>

namespace bigbird::task_models {

namespace {

using examples::Split;
using examples::TargetKind;

constexpr std::int64_t most_positions = 1024, most_ridge_positions = 128, chunk = 2048;
constexpr std::int64_t batch_tokens = 1 << 20;
constexpr double logistic_penalties[] = {300, 100, 30, 10, 3}, ridge_penalties[] = {1e-2, 1e-1, 1, 10, 100};
constexpr double usual_logistic = 30, usual_ridge = 1;
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

/// Weight (labels, features) and bias (labels) of one penalty.
struct Weights {
    at::Tensor weight, bias;
};

class Logistic {
public:
    Logistic(const examples::ExampleSet& examples, const CountedRows& train, std::int64_t features)
        : examples_(examples), svm_(features) {
        for (const auto& row : train.features)
            svm_.add(row);
        const std::size_t labels = examples.label_table().size();
        ones_.resize(labels);
        for (const std::int64_t row : train.rows)
            for (std::size_t label = 0; label < labels; ++label)
                ones_[label].push_back(examples.label(row, label));
    }
    Weights solve(double penalty) const {
        const bool two_classes = examples_.target() == TargetKind::classes && ones_.size() == 2;
        std::vector<at::Tensor> weights, biases;
        for (std::size_t label = two_classes ? 1 : 0; label < ones_.size(); ++label) {
            stop_if_asked();
            const baselines::LinearScores solved = svm_.train(
                ones_[label],
                {.loss = baselines::MarginLoss::logistic, .cost = 1 / penalty, .tolerance = tolerance});
            weights.push_back(solved.weight);
            biases.push_back(solved.bias);
        }
        Weights all{at::stack(weights), at::stack(biases)};
        // The softmax of two halves is the sigmoid of their difference.
        if (two_classes)
            all = {at::cat({all.weight / -2, all.weight / 2}), at::cat({all.bias / -2, all.bias / 2})};
        return all;
    }

private:
    const examples::ExampleSet& examples_;
    baselines::LinearSvm svm_;
    std::vector<std::vector<std::uint8_t>> ones_;  // [label][row]
};

/// Adds the rows of train in chunks, and returns their number.
std::int64_t add_rows(const examples::ExampleSet& examples, const baselines::KmerCounts& counts, int threads,
                      const std::optional<Standardisation>& standardisation, baselines::Ridge& ridge) {
    const std::vector<std::int64_t> train = examples.rows(Split::train);
    std::int64_t added = 0;
    Progress progress("Counting k-mers", "records", std::ssize(train));
    for (std::size_t begin = 0; begin < train.size(); begin += chunk) {
        stop_if_asked();
        const std::size_t size = std::min<std::size_t>(chunk, train.size() - begin);
        const CountedRows some = counted(examples, std::span(train).subspan(begin, size), counts, threads);
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
        progress.update(static_cast<std::int64_t>(begin + size));
    }
    progress.finish();
    return added;
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

KmerFit fit_kmers(const examples::ExampleSet& examples, const LinearSpec& spec, RecordStrand strand,
                  const std::optional<Standardisation>& standardisation, int threads) {
    const bool ridge = examples.target() == TargetKind::numbers;
    const baselines::KmerWords words = words_for(examples, strand, spec.word, ridge);
    const baselines::KmerCounts counts(words);
    const std::vector<std::int64_t> validation = examples.rows(Split::validation);
    std::vector<double> penalties(std::begin(logistic_penalties), std::end(logistic_penalties));
    if (ridge) penalties.assign(std::begin(ridge_penalties), std::end(ridge_penalties));
    if (spec.penalty > 0) penalties = {spec.penalty};
    if (spec.penalty <= 0 && validation.empty()) penalties = {ridge ? usual_ridge : usual_logistic};
    std::optional<baselines::Ridge> by_ridge;
    std::optional<Logistic> logistic;
    std::int64_t records = 0;
    if (ridge) {
        by_ridge.emplace(counts.size(), static_cast<std::int64_t>(examples.label_table().size()));
        records = add_rows(examples, counts, threads, standardisation, *by_ridge);
    } else {
        const CountedRows train = counted(examples, examples.rows(Split::train), counts, threads);
        records = std::ssize(train.rows);
        if (records > 0) logistic.emplace(examples, train, counts.size());
    }
    if (records == 0) {
        throw InputError(
            "--examples holds no record of train that can be used; build it again with a larger part for "
            "training");
    }
    log_info("{} records to learn from, {} for validation; {} features", records, validation.size(),
             counts.size());
    KmerFit best;
    double least = std::numeric_limits<double>::infinity();
    Progress progress("Fitting", "penalties", std::ssize(penalties));
    for (std::size_t i = 0; i < penalties.size(); ++i) {
        stop_if_asked();
        Weights solved;
        if (ridge) {
            const baselines::LinearScores scores = by_ridge->solve(penalties[i]);
            solved = {scores.weight, scores.bias};
        } else {
            solved = logistic->solve(penalties[i]);
        }
        auto network = kmer_network(words, solved.weight, solved.bias, at::kCPU);
        double loss = 0;
        if (penalties.size() > 1) {
            loss = loss_on(examples, scored_records(*network, examples, validation, standardisation,
                                                    batch_tokens, threads));
        }
        if (loss < least) {
            least = loss;
            best = {std::move(network), penalties[i], loss};
        }
        progress.update(static_cast<std::int64_t>(i + 1));
    }
    progress.finish();
    return best;
}

RecordStrand chosen_strand(const examples::ExampleSet& examples, RecordStrand strand,
                           const std::optional<Standardisation>& standardisation, int threads) {
    if (strand != RecordStrand::automatic) return strand;
    if (examples.rows(Split::validation).empty() || examples.task() == examples::Task::chromatin)
        return RecordStrand::both;
    const auto loss_by = [&](RecordStrand by) {
        return fit_kmers(examples, {}, by, standardisation, threads).loss;
    };
    const bool numbers = examples.target() == TargetKind::numbers;
    const double both = loss_by(RecordStrand::both), given = loss_by(RecordStrand::given);
    const bool better = numbers ? given < clearly_less * both : given < both - clearly_higher;
    log_info("{} of k-mers on validation: {:.3f} of both strands, {:.3f} by strand and place. --strand {}",
             numbers ? "Squared error" : "AUROC", numbers ? both : 1 - both, numbers ? given : 1 - given,
             better ? "given" : "both");
    return better ? RecordStrand::given : RecordStrand::both;
}

}  // namespace bigbird::task_models
