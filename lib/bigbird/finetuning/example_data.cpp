// SPDX-License-Identifier: Apache-2.0
#include "bigbird/finetuning/example_data.hpp"

#include "bigbird/baselines/window/base_codes.hpp"
#include "bigbird/bins/motifs.hpp"
#include "bigbird/core/check.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/core/progress.hpp"
#include "bigbird/core/rng.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/tasks/sequence_network.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>

namespace bigbird::tasks {

namespace {

using examples::Split;
using examples::TargetKind;

constexpr std::int64_t rows_per_task = 64;  // enough work per task for a thread
constexpr std::int64_t records_at_once = 4096;
// Of the motif search.
constexpr std::int64_t most_rows = 8192, most_bases = std::int64_t{1} << 21, longest_part = 1000;

struct Encoded {
    std::vector<EncodedWindow> forward, reverse;
};

/// The middle bases of training rows; shorter rows are padded with N at the end.
motifs::LabelledSequence motif_sample(const examples::ExampleSet& examples, std::uint64_t seed) {
    std::vector<std::int64_t> rows = examples.rows(Split::train);
    motifs::LabelledSequence sample;
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
    for (std::size_t label = 0; label < sample.with.size(); ++label)
        sample.names.push_back(examples.label_table()[label].name);
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

std::vector<double> class_weights(const examples::ExampleSet& examples, const ClassifierSpec& spec) {
    const std::size_t classes = examples.label_table().size();
    std::vector<double> weights(classes, 1);
    if (spec.positive_weight && *spec.positive_weight == 1) return weights;
    if (spec.positive_weight && classes != 2) {
        throw ConfigError("--positive-weight is for labels or two classes: there are " +
                          std::to_string(classes) + "; balanced weighs each class");
    }
    const auto rows = std::ssize(examples.rows(Split::train));
    for (std::size_t label = 0; label < classes; ++label) {
        const auto ones = std::max<std::int64_t>(1, examples.positives(label, Split::train));
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
    const auto rows = std::ssize(examples.rows(Split::train));
    for (std::size_t label = 0; label < examples.label_table().size(); ++label)
        weights.push_back(balanced_weight(examples.positives(label, Split::train), rows));
    return weights;
}

void require_counts(const examples::ExampleSet& examples) {
    for (const std::int64_t row : examples.rows(Split::train)) {
        for (const float number : examples.numbers(row)) {
            if (number < 0) {
                throw ConfigError("--loss poisson is for counts, but the row " + examples.row(row).name +
                                  " has " + std::to_string(number));
            }
        }
    }
}

}  // namespace

EncodedExamples::EncodedExamples(const examples::ExampleSet& examples, std::span<const std::int64_t> rows,
                                 const TaskNetwork& network, const rows::WindowBounds& window,
                                 bool both_strands, int threads)
    : both_strands_(both_strands) {
    const auto total = static_cast<std::int64_t>(rows.size());
    const auto encode_some = [&](std::int64_t task) {
        Encoded encoded;
        for (std::int64_t i = task * rows_per_task; i < std::min(total, (task + 1) * rows_per_task); ++i) {
            const std::int64_t row = rows[static_cast<std::size_t>(i)];
            const bool of_record = examples.traits().has_records;
            const std::string whole =
                of_record ? record_for(network, examples, row, window.size()) : examples.sequence(row);
            const std::string_view dna =
                of_record ? std::string_view(whole) : cut_window(whole, examples.bounds(), window);
            encoded.forward.push_back(network.encode(dna, false));
            if (both_strands) encoded.reverse.push_back(network.encode(dna, true));
        }
        return encoded;
    };
    Progress progress("Encoding windows", "windows", total);
    std::int64_t done = 0;
    const auto keep = [&](Encoded&& encoded) {
        stop_if_asked();
        for (std::size_t i = 0; i < encoded.forward.size(); ++i, ++done) {
            const EncodedWindow& forward = encoded.forward[i];
            if (forward.all_n()) {
                ++left_out_;
                continue;
            }
            rows_.push_back(rows[static_cast<std::size_t>(done)]);
            truncated_ += forward.truncated ? 1 : 0;
            append(forward);
            if (both_strands) append(encoded.reverse[i]);
        }
        progress.update(done);
    };
    ordered_pipeline<Encoded>((total + rows_per_task - 1) / rows_per_task, threads, encode_some, keep);
    progress.finish();
}

void EncodedExamples::append(const EncodedWindow& window) {
    constexpr std::int32_t narrow_most = std::numeric_limits<std::uint16_t>::max();
    if (!wide_ && std::ranges::any_of(window.ids, [&](std::int32_t id) { return id > narrow_most; })) {
        wide_ids_.assign(narrow_ids_.begin(), narrow_ids_.end());
        narrow_ids_ = {};
        wide_ = true;
    }
    if (wide_)
        wide_ids_.insert(wide_ids_.end(), window.ids.begin(), window.ids.end());
    else
        std::ranges::transform(window.ids, std::back_inserter(narrow_ids_),
                               [](std::int32_t id) { return static_cast<std::uint16_t>(id); });
    offsets_.push_back(offsets_.back() + std::ssize(window.ids));
    marks_.emplace_back(window.marked_begin, window.marked_end);
}

EncodedWindow EncodedExamples::window(std::int64_t index, bool reverse) const {
    BIGBIRD_EXPECTS(!reverse || both_strands_, "the reverse complements were not encoded");
    const auto place = static_cast<std::size_t>(both_strands_ ? 2 * index + (reverse ? 1 : 0) : index);
    const auto begin = static_cast<std::ptrdiff_t>(offsets_[place]);
    const auto end = static_cast<std::ptrdiff_t>(offsets_[place + 1]);
    EncodedWindow window;
    if (wide_)
        window.ids.assign(wide_ids_.begin() + begin, wide_ids_.begin() + end);
    else
        window.ids.assign(narrow_ids_.begin() + begin, narrow_ids_.begin() + end);
    std::tie(window.marked_begin, window.marked_end) = marks_[place];
    return window;
}

motifs::MotifSet plant_motifs(TaskNetwork& network, const examples::ExampleSet& examples, std::int64_t most,
                              std::uint64_t seed, int threads) {
    constexpr double norm = 0.9;
    const auto* const records = dynamic_cast<const SequenceNetwork*>(&network);
    if (records == nullptr || records->members().empty() || examples.target() == TargetKind::numbers)
        return {};
    const std::int64_t width = records->shape().member.width;
    const motifs::LabelledSequence sample = motif_sample(examples, seed);
    if (sample.length < std::max(width, motifs::least_motif_width)) return {};
    const motifs::MotifSearch search{.width = std::max(width, motifs::least_motif_width),
                                     .most = std::min(most, records->shape().member.filters)};
    motifs::MotifSet found = motifs::find_enriched(sample, search, threads);
    const at::NoGradGuard no_gradients;
    for (sequences::Network member : records->members()) {
        at::Tensor filters = member->first_filters(), planted = filters.cpu().clone();
        bins::plant_motifs(planted, found, norm);
        filters.copy_(planted);
    }
    return found;
}

Standardisation standardisation_of(const examples::ExampleSet& examples) {
    const std::size_t width = examples.label_table().size();
    std::vector<double> sum(width, 0), squares(width, 0);
    const std::vector<std::int64_t> rows = examples.rows(Split::train);
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
            return labels_target(label_weights(examples, spec), device);
        case TargetKind::numbers:
            break;
    }
    const bool of_records = examples.traits().has_records;
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
        std::ranges::copy(examples.numbers(rows[i]), out);
        for (std::size_t number = 0; standardisation && number < width; ++number) {
            out[number] =
                static_cast<float>((static_cast<double>(out[number]) - standardisation->mean[number]) /
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
    if (examples.target() == TargetKind::classes) scored.truth = scored.truth.argmax(1);
    return scored;
}

ExampleData::ExampleData(std::shared_ptr<const TaskNetwork> network, const examples::ExampleSet& examples,
                         const ClassifierSpec& spec, bool at_base_rates, int threads,
                         const SequenceSpec& sequence, std::optional<Standardisation> standardisation)
    : examples_(examples),
      spec_(spec),
      sequence_(sequence),
      standardisation_(std::move(standardisation)),
      at_base_rates_(at_base_rates),
      threads_(threads),
      shift_(sequence.strand != RecordStrand::given && !network->reads_tokens() && network->any_length()
                 ? sequence.shift
                 : 0),
      training_(examples, examples.rows(Split::train), *network, spec.window.value_or(examples.bounds()),
                spec.both_strands, threads),
      validation_(examples, examples.rows(Split::validation), *network,
                  spec.window.value_or(examples.bounds()), false, threads) {
    if (training_.size() == 0) {
        throw InputError(
            "no window of train has a base other than N: build the examples again with more for training");
    }
}

std::unique_ptr<Target> ExampleData::target(const at::Device& device) const {
    return target_of(examples_, spec_, sequence_, device);
}

std::vector<double> ExampleData::rates() const {
    if (examples_.target() == TargetKind::numbers) return standardisation_of(examples_).mean;
    const bool records = examples_.traits().has_records;
    const auto rows =
        static_cast<double>(records ? std::ssize(examples_.rows(Split::train)) : training_.size());
    std::vector<double> rates;
    for (std::size_t label = 0; label < labels().size(); ++label) {
        const auto ones = static_cast<double>(examples_.positives(label, Split::train));
        rates.push_back((std::min(ones, rows) + 0.5) / (rows + 1));
    }
    return rates;
}

void ExampleData::start(TaskNetwork& network, const Target& target, bool speaks) const {
    if (at_base_rates_) start_at(rates(), network, target);
    if (sequence_.motifs == 0 || network.reads_tokens()) return;
    const motifs::MotifSet planted = plant_motifs(network, examples_, sequence_.motifs, spec_.seed, threads_);
    if (!speaks) return;
    log_info("{} of the first filters begin as motifs of the training rows", planted.motifs.size());
    if (!sequence_.motif_output.empty() && !planted.motifs.empty())
        motifs::write_motifs(sequence_.motif_output, planted, Overwrite::allow);
}

void ExampleData::say(const TaskNetwork&, std::int64_t steps, std::int64_t batch_size) const {
    log_info("{} to learn from, {} for validation, {}; {} of {} ({:.1f} epochs)",
             counted(training_.size(), "window"), validation_.size(), counted(labels().size(), "label"),
             counted(steps, "step"), batch_size,
             static_cast<double>(steps * batch_size) / static_cast<double>(training_.size()));
    if (training_.left_out() > 0) log_info("left out, as all N: {}", counted(training_.left_out(), "window"));
    if (training_.truncated() > 0) {
        log_warning(
            "{} of {} windows have more tokens than the model has positions: only their middle is used",
            training_.truncated(), training_.size());
    }
}

std::int64_t ExampleData::index_of(std::int64_t sample) {
    const std::int64_t windows = training_.size(), epoch = sample / windows;
    if (epoch_ != epoch) {
        order_ = epoch_order(windows, spec_.seed, epoch);
        epoch_ = epoch;
    }
    return order_[static_cast<std::size_t>(sample % windows)];
}

ExampleData::Sample ExampleData::sample(std::int64_t number) {
    const std::int64_t index = index_of(number);
    if (!spec_.both_strands) return {index, false};
    Rng strand = Rng(spec_.seed)
                     .split("strand")
                     .split(static_cast<std::uint64_t>(number / training_.size()))
                     .split(static_cast<std::uint64_t>(training_.row(index)));
    return {index, (strand.next() & 1U) != 0};
}

Batch ExampleData::batch_of(const EncodedExamples& windows, std::span<const Sample> samples) const {
    Batch batch;
    std::vector<std::int64_t> rows;
    for (const Sample& sample : samples) {
        batch.windows.push_back(windows.window(sample.index, sample.reverse));
        rows.push_back(windows.row(sample.index));
    }
    batch.wanted.targets = targets_of_rows(examples_, rows, standardisation_);
    return batch;
}

Batch ExampleData::train(std::int64_t begin, std::int64_t end) {
    std::vector<Sample> samples;
    for (std::int64_t number = begin; number < end; ++number)
        samples.push_back(sample(number));
    Batch batch = batch_of(training_, samples);
    const Rng stream = Rng(spec_.seed).split("shift");
    for (std::size_t i = 0; shift_ > 0 && i < batch.windows.size(); ++i) {
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

double ExampleData::weight(std::int64_t begin, std::int64_t end) const {
    const std::size_t width = examples_.target() == TargetKind::classes ? 1 : labels().size();
    return static_cast<double>((end - begin) * static_cast<std::int64_t>(width));
}

Batch ExampleData::validation(std::int64_t begin, std::int64_t end) const {
    std::vector<Sample> samples;
    for (std::int64_t index = begin; index < end; ++index)
        samples.push_back({index, false});
    return batch_of(validation_, samples);
}

std::string record_for(const TaskNetwork& network, const examples::ExampleSet& examples, std::int64_t row,
                       std::int64_t window) {
    return network.any_length() ? examples.sequence(row) : examples.centred(row, window);
}

std::vector<std::int64_t> epoch_order(std::int64_t count, std::uint64_t seed, std::int64_t epoch) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(count));
    std::iota(order.begin(), order.end(), 0);
    Rng rng = Rng(seed).split("epoch order").split(static_cast<std::uint64_t>(epoch));
    shuffle(order, rng);
    return order;
}

std::string_view cut_window(std::string_view dna, const rows::WindowBounds& bounds,
                            const rows::WindowBounds& part) {
    BIGBIRD_EXPECTS(bounds.begin <= part.begin && part.end <= bounds.end, "a part of the window");
    return dna.substr(static_cast<std::size_t>(part.begin - bounds.begin),
                      static_cast<std::size_t>(part.size()));
}

}  // namespace bigbird::tasks
