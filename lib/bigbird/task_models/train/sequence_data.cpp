// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/train/sequence_data.hpp"

#include "bigbird/baselines/window/base_codes.hpp"
#include "bigbird/bins/motifs.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/core/rng.hpp"
#include "bigbird/task_models/network/sequence_network.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

namespace bigbird::task_models {

namespace {

constexpr std::int64_t most_rows = 8192, most_bases = std::int64_t{1} << 21, longest_part = 1000;

/// The middle bases of training rows; shorter rows are padded with N at the end.
bins::LabelledSequence sample_of(const examples::ExampleSet& examples, std::uint64_t seed) {
    std::vector<std::int64_t> rows = examples.rows(examples::Split::train);
    bins::LabelledSequence sample;
    sample.length = std::min(examples.bounds().size(), longest_part);
    const std::int64_t most = std::min(most_rows, most_bases / sample.length);
    if (std::ssize(rows) > most) {
        const std::vector<std::int64_t> order = epoch_order(std::ssize(rows), seed, 0);
        std::vector<std::int64_t> drawn;
        for (std::int64_t i = 0; i < most; ++i)
            drawn.push_back(rows[static_cast<std::size_t>(order[static_cast<std::size_t>(i)])]);
        std::ranges::sort(drawn);
        rows = std::move(drawn);
    }
    sample.background = std::ssize(rows);
    sample.with.resize(examples.label_table().size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const std::string dna = examples.centred(rows[i], std::min(examples.length(rows[i]), sample.length));
        for (const std::int32_t code : baselines::base_codes(dna))
            sample.codes.push_back(static_cast<std::uint8_t>(code));
        sample.codes.resize((i + 1) * static_cast<std::size_t>(sample.length), baselines::code_of_n);
        const std::vector<std::uint8_t> labels = examples.labels(rows[i]);
        for (std::size_t label = 0; label < labels.size(); ++label)
            if (labels[label] == 1) sample.with[label].push_back(static_cast<std::int32_t>(i));
    }
    return sample;
}

}  // namespace

motifs::MotifSet plant_motifs(TaskNetwork& network, const examples::ExampleSet& examples, std::int64_t most,
                              std::uint64_t seed, int threads) {
    constexpr double norm = 0.9;
    const auto* const records = dynamic_cast<const SequenceNetwork*>(&network);
    if (records == nullptr || records->members().empty() ||
        examples.target() == examples::TargetKind::numbers)
        return {};
    const std::int64_t width = records->shape().member.width;
    const bins::LabelledSequence sample = sample_of(examples, seed);
    if (sample.length < std::max(width, bins::least_motif_width)) return {};
    const bins::MotifSearch search{.width = std::max(width, bins::least_motif_width),
                                   .most = std::min(most, records->shape().member.filters)};
    const std::vector<bins::Motif> motifs = bins::find_motifs(sample, search, threads);
    const at::NoGradGuard no_gradients;
    for (sequences::Network member : records->members()) {
        at::Tensor filters = member->first_filters(), planted = filters.cpu().clone();
        bins::plant_motifs(planted, motifs, norm);
        filters.copy_(planted);
    }
    std::vector<std::string> labels;
    for (std::size_t label = 0; label < examples.label_table().size(); ++label)
        labels.push_back(examples.label_table()[label].name);
    return bins::as_shares(motifs, labels);
}

namespace {

using examples::TargetKind;

constexpr std::int64_t records_at_once = 4096;

/// Turns the truth of classes into the class of each row.
void name_classes(ScoredRows& rows, LinkFunction link) {
    if (link == LinkFunction::softmax) rows.truth = rows.truth.argmax(1);
}

std::vector<double> class_weights(const examples::ExampleSet& examples, const ClassifierSpec& spec) {
    const std::size_t classes = examples.label_table().size();
    std::vector<double> weights(classes, 1);
    if (spec.positive_weight && *spec.positive_weight == 1) return weights;
    if (spec.positive_weight && classes != 2) {
        throw ConfigError("--positive-weight is for labels or two classes: there are " +
                          std::to_string(classes) + "; balanced weighs each class");
    }
    const auto rows = std::ssize(examples.rows(examples::Split::train));
    for (std::size_t label = 0; label < classes; ++label) {
        const auto ones = std::max<std::int64_t>(1, examples.positives(label, examples::Split::train));
        weights[label] =
            std::min(largest_balanced_weight,
                     static_cast<double>(rows) / static_cast<double>(ones * std::ssize(weights)));
    }
    if (spec.positive_weight) weights = {1, *spec.positive_weight};
    return weights;
}

std::vector<double> label_weights(const examples::ExampleSet& examples, const ClassifierSpec& spec) {
    if (spec.positive_weight) return {*spec.positive_weight};
    std::vector<double> weights;
    const auto rows = std::ssize(examples.rows(examples::Split::train));
    for (std::size_t label = 0; label < examples.label_table().size(); ++label)
        weights.push_back(balanced_weight(examples.positives(label, examples::Split::train), rows));
    return weights;
}

void require_counts(const examples::ExampleSet& examples) {
    for (const std::int64_t row : examples.rows(examples::Split::train)) {
        for (const float number : examples.numbers(row)) {
            if (number < 0) {
                throw ConfigError("--loss poisson is for counts, but the row " + examples.row(row).name +
                                  " has " + std::to_string(number));
            }
        }
    }
}

}  // namespace

Standardisation standardisation_of(const examples::ExampleSet& examples) {
    const std::size_t width = examples.label_table().size();
    std::vector<double> sum(width, 0), squares(width, 0);
    const std::vector<std::int64_t> rows = examples.rows(examples::Split::train);
    const auto count = static_cast<double>(std::max<std::int64_t>(1, std::ssize(rows)));
    for (const std::int64_t row : rows) {
        const auto numbers = examples.numbers(row);
        for (std::size_t i = 0; i < width; ++i)
            sum[i] += static_cast<double>(numbers[i]);
    }
    for (double& mean : sum)
        mean /= count;
    for (const std::int64_t row : rows) {
        const auto numbers = examples.numbers(row);
        for (std::size_t i = 0; i < width; ++i)
            squares[i] += std::pow(static_cast<double>(numbers[i]) - sum[i], 2);
    }
    for (double& deviation : squares)
        deviation = deviation > 0 ? std::sqrt(deviation / count) : 1;
    return {sum, squares};
}

std::unique_ptr<Target> target_of(const examples::ExampleSet& examples, const ClassifierSpec& spec,
                                  const SequenceSpec& sequence, const at::Device& device) {
    switch (examples.target()) {
        case TargetKind::classes:
            return classes_target(class_weights(examples, spec), sequence.smoothing, device);
        case TargetKind::labels:
            return labels_target(label_weights(examples, spec), device, false);
        case TargetKind::numbers:
            break;
    }
    const bool of_records = examples.task() == examples::Task::sequences;
    if (spec.positive_weight != 1.0 && of_records)
        throw ConfigError("--positive-weight is for classes and labels");
    if (sequence.loss == NumberLoss::squared) return numbers_target(LinkFunction::identity);
    require_counts(examples);
    return numbers_target(LinkFunction::exponential);
}

at::Tensor targets_of_rows(const examples::ExampleSet& examples, std::span<const std::int64_t> rows,
                           const std::optional<Standardisation>& standardisation) {
    const std::size_t width = examples.label_table().size();
    const bool numbers = examples.target() == TargetKind::numbers;
    at::Tensor targets =
        at::empty({std::ssize(rows), 1, static_cast<std::int64_t>(width)}, numbers ? at::kFloat : at::kByte);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (!numbers) {
            examples.copy_labels(rows[i], {targets.mutable_data_ptr<std::uint8_t>() + i * width, width});
            continue;
        }
        float* const out = targets.mutable_data_ptr<float>() + i * width;
        const auto own = examples.numbers(rows[i]);
        for (std::size_t number = 0; number < width; ++number) {
            out[number] = own[number];
            if (!standardisation) continue;
            out[number] =
                static_cast<float>((static_cast<double>(own[number]) - standardisation->mean[number]) /
                                   standardisation->deviation[number]);
        }
    }
    return targets;
}

ScoredRows scored_records(const TaskNetwork& network, const examples::ExampleSet& examples,
                          std::span<const std::int64_t> rows,
                          const std::optional<Standardisation>& standardisation, std::int64_t batch_tokens,
                          int threads) {
    std::vector<at::Tensor> logits{at::empty({0, network.labels()})}, truth;
    for (std::size_t begin = 0; begin < rows.size(); begin += records_at_once) {
        stop_if_asked();
        const auto some = rows.subspan(begin, std::min<std::size_t>(records_at_once, rows.size() - begin));
        std::vector<EncodedWindow> windows(some.size());
        parallel_for(std::ssize(some), threads, [&](std::int64_t i) {
            const auto index = static_cast<std::size_t>(i);
            windows[index] = network.encode(examples.sequence(some[index]));
        });
        std::vector<EncodedWindow> known;
        std::vector<std::int64_t> known_rows;
        for (std::size_t i = 0; i < some.size(); ++i) {
            if (windows[i].all_n()) continue;
            known.push_back(std::move(windows[i]));
            known_rows.push_back(some[i]);
        }
        if (known.empty()) continue;
        logits.push_back(batched_logits(network, known, batch_tokens).flatten(0, 1));
        truth.push_back(targets_of_rows(examples, known_rows, standardisation).flatten(0, 1));
    }
    ScoredRows scored{at::cat(logits), truth.empty() ? at::empty({0, network.labels()}) : at::cat(truth), 0};
    name_classes(scored,
                 examples.target() == TargetKind::classes ? LinkFunction::softmax : LinkFunction::logistic);
    return scored;
}

SequenceData::SequenceData(std::shared_ptr<const TaskNetwork> network, const examples::ExampleSet& examples,
                           const ClassifierSpec& spec, const SequenceSpec& sequence,
                           std::optional<Standardisation> standardisation, int threads)
    : ExampleData(network, examples, spec, true, threads),
      sequence_(sequence),
      standardisation_(std::move(standardisation)),
      shift_(sequence.strand != RecordStrand::given && !network->reads_tokens() && network->any_length()
                 ? sequence.shift
                 : 0),
      threads_(threads) {}

std::unique_ptr<Target> SequenceData::target(const at::Device& device) const {
    return target_of(examples(), spec(), sequence_, device);
}

void SequenceData::start(TaskNetwork& network, const Target& target, bool speaks) const {
    std::vector<double> rates;
    const std::vector<std::int64_t> rows = examples().rows(examples::Split::train);
    const auto count = static_cast<double>(rows.size());
    const bool numbers = examples().target() == TargetKind::numbers;
    const std::vector<double> means = numbers ? standardisation_of(examples()).mean : std::vector<double>();
    for (std::size_t label = 0; label < labels().size(); ++label) {
        rates.push_back(
            numbers ? means[label]
                    : (static_cast<double>(examples().positives(label, examples::Split::train)) + 0.5) /
                          (count + 1));
    }
    start_at(rates, network, target);
    if (sequence_.motifs == 0) return;
    const motifs::MotifSet planted =
        plant_motifs(network, examples(), sequence_.motifs, spec().seed, threads_);
    if (!speaks) return;
    log_info("{} filters begin as motifs of the training rows", planted.motifs.size());
    if (!sequence_.motif_output.empty() && !planted.motifs.empty())
        motifs::write_motifs(sequence_.motif_output, planted, Overwrite::allow);
}

Batch SequenceData::train(std::int64_t begin, std::int64_t end) {
    Batch batch = ExampleData::train(begin, end);
    if (shift_ == 0) return batch;
    const Rng stream = Rng(spec().seed).split("shift");
    for (std::size_t i = 0; i < batch.windows.size(); ++i) {
        std::vector<std::int32_t>& ids = batch.windows[i].ids;
        Rng rng = stream.split(static_cast<std::uint64_t>(begin) + i);
        const std::int64_t most = std::min(shift_, std::ssize(ids) / 8);
        const std::int64_t by = rng.between(-most, most);
        if (by > 0) std::fill(std::shift_left(ids.begin(), ids.end(), by), ids.end(), baselines::code_of_n);
        if (by < 0)
            std::fill(ids.begin(), std::shift_right(ids.begin(), ids.end(), -by), baselines::code_of_n);
    }
    return batch;
}

double SequenceData::weight(std::int64_t begin, std::int64_t end) const {
    const std::int64_t width =
        examples().target() == TargetKind::classes ? 1 : static_cast<std::int64_t>(labels().size());
    return static_cast<double>((end - begin) * width);
}

ScoredRows SequenceData::score(const TaskNetwork& network, const Target& target, const Batch& batch,
                               std::int64_t batch_tokens) const {
    ScoredRows rows = ExampleData::score(network, target, batch, batch_tokens);
    name_classes(rows, target.link());
    return rows;
}

at::Tensor SequenceData::targets_of(std::span<const std::int64_t> rows) const {
    return targets_of_rows(examples(), rows, standardisation_);
}

}  // namespace bigbird::task_models
