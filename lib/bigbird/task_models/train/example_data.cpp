// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/train/example_data.hpp"

#include "bigbird/core/check.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/core/progress.hpp"
#include "bigbird/core/rng.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

namespace bigbird::task_models {

namespace {

constexpr std::int64_t rows_a_task = 64;        // enough work per task for a thread
constexpr std::int64_t validation_rows = 1024;  // rows whose ids are unpacked at once

struct Encoded {
    std::vector<EncodedWindow> forward, reverse;
};

}  // namespace

EncodedExamples::EncodedExamples(const examples::ExampleSet& examples, std::span<const std::int64_t> rows,
                                 const TaskNetwork& network, const rows::WindowBounds& window,
                                 bool both_strands, int threads)
    : both_strands_(both_strands) {
    const auto total = static_cast<std::int64_t>(rows.size());
    const auto encode_some = [&](std::int64_t task) {
        Encoded encoded;
        for (std::int64_t i = task * rows_a_task; i < std::min(total, (task + 1) * rows_a_task); ++i) {
            const std::int64_t row = rows[static_cast<std::size_t>(i)];
            const bool of_record = examples.task() == examples::Task::sequences;
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
    ordered_pipeline<Encoded>((total + rows_a_task - 1) / rows_a_task, threads, encode_some, keep);
    progress.finish();
}

void EncodedExamples::append(const EncodedWindow& window) {
    const auto narrow_most = std::int32_t{std::numeric_limits<std::uint16_t>::max()};
    if (!wide_ && std::ranges::any_of(window.ids, [&](std::int32_t id) { return id > narrow_most; })) widen();
    if (wide_) {
        wide_ids_.insert(wide_ids_.end(), window.ids.begin(), window.ids.end());
    } else {
        std::transform(
            window.ids.begin(), window.ids.end(), std::back_inserter(narrow_ids_),
            [](std::int32_t id) { return static_cast<std::uint16_t>(id); });
    }
    offsets_.push_back(offsets_.back() + std::ssize(window.ids));
    marks_.emplace_back(window.marked_begin, window.marked_end);
}

void EncodedExamples::widen() {
    wide_ids_.assign(narrow_ids_.begin(), narrow_ids_.end());
    narrow_ids_ = {};
    wide_ = true;
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

ExampleData::ExampleData(std::shared_ptr<const TaskNetwork> network, const examples::ExampleSet& examples,
                         const ClassifierSpec& spec, bool at_base_rates, int threads)
    : examples_(examples),
      spec_(spec),
      at_base_rates_(at_base_rates),
      training_(examples, examples.rows(examples::Split::train), *network,
                spec.window.value_or(examples.bounds()), spec.both_strands, threads),
      validation_(examples, examples.rows(examples::Split::validation), *network,
                  spec.window.value_or(examples.bounds()), false, threads) {
    if (training_.size() == 0) {
        throw InputError(
            "--examples holds no window of train that can be used; build it again with a larger part for "
            "training");
    }
    if (spec.sampling == Sampling::uniform) return;
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

std::unique_ptr<Target> ExampleData::target(const at::Device& device) const {
    std::vector<double> weights;
    const auto rows = std::ssize(examples_.rows(examples::Split::train));
    for (std::size_t label = 0; label < labels().size() && !spec_.positive_weight; ++label)
        weights.push_back(balanced_weight(examples_.positives(label, examples::Split::train), rows));
    if (spec_.positive_weight) weights = {*spec_.positive_weight};
    return labels_target(weights, device, false);
}

void ExampleData::start(TaskNetwork& network, const Target& target, bool) const {
    if (!at_base_rates_) return;
    const bool uniform = spec_.sampling == Sampling::uniform;
    // Balanced sampling draws every second window from those with a label.
    const auto pool = static_cast<double>(uniform ? training_.size() : std::ssize(with_label_));
    std::vector<double> rates;
    for (std::size_t label = 0; label < labels().size(); ++label) {
        const auto ones = static_cast<double>(examples_.positives(label, examples::Split::train));
        rates.push_back((uniform ? 1 : 0.5) * (std::min(ones, pool) + 0.5) / (pool + 1));
    }
    start_at(rates, network, target);
}

void ExampleData::say(const TaskNetwork&, std::int64_t steps, std::int64_t batch_size) const {
    log_info("{} windows to learn from, {} for validation, {} label{}; {} steps of {} ({:.1f} epochs)",
             training_.size(), validation_.size(), labels().size(), labels().size() == 1 ? "" : "s", steps,
             batch_size, static_cast<double>(steps * batch_size) / static_cast<double>(training_.size()));
    if (training_.left_out() > 0) log_info("{} windows that are all N were left out", training_.left_out());
    if (training_.truncated() > 0) {
        log_warning(
            "{} of {} windows have more tokens than the model has positions: only their middle is used",
            training_.truncated(), training_.size());
    }
}

const std::vector<std::int64_t>& ExampleData::order(std::size_t pool, std::int64_t size, std::int64_t epoch) {
    Order& order = orders_[pool];
    if (order.epoch != epoch) {
        const std::uint64_t seed = pool == 0 ? spec_.seed : Rng(spec_.seed).split(pool).key();
        order.indices = epoch_order(size, seed, epoch);
        order.epoch = epoch;
    }
    return order.indices;
}

std::int64_t ExampleData::index_of(std::int64_t sample) {
    if (spec_.sampling == Sampling::uniform) {
        const std::int64_t windows = training_.size();
        return order(0, windows, sample / windows)[static_cast<std::size_t>(sample % windows)];
    }
    const std::vector<std::int64_t>& pool = sample % 2 == 0 ? with_label_ : without_;
    const std::int64_t drawn = sample / 2, size = std::ssize(pool);
    const std::vector<std::int64_t>& shuffled = order(sample % 2 == 0 ? 1 : 2, size, drawn / size);
    return pool[static_cast<std::size_t>(shuffled[static_cast<std::size_t>(drawn % size)])];
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

at::Tensor ExampleData::targets_of(std::span<const std::int64_t> rows) const {
    const std::size_t width = labels().size();
    at::Tensor targets = at::empty({std::ssize(rows), 1, static_cast<std::int64_t>(width)}, at::kByte);
    auto* out = targets.mutable_data_ptr<std::uint8_t>();
    for (const std::int64_t row : rows) {
        examples_.copy_labels(row, {out, width});
        out += width;
    }
    return targets;
}

Batch ExampleData::batch_of(const EncodedExamples& windows, std::span<const Sample> samples) const {
    Batch batch;
    std::vector<std::int64_t> rows;
    for (const Sample& sample : samples) {
        batch.windows.push_back(windows.window(sample.index, sample.reverse));
        rows.push_back(windows.row(sample.index));
    }
    batch.wanted.targets = targets_of(rows);
    return batch;
}

Batch ExampleData::train(std::int64_t begin, std::int64_t end) {
    std::vector<Sample> samples;
    for (std::int64_t number = begin; number < end; ++number)
        samples.push_back(sample(number));
    return batch_of(training_, samples);
}

double ExampleData::weight(std::int64_t begin, std::int64_t end) const {
    return static_cast<double>((end - begin) * static_cast<std::int64_t>(labels().size()));
}

std::int64_t ExampleData::validation_chunk(std::int64_t) const {
    return validation_rows;
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

}  // namespace bigbird::task_models
