// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/error.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/task_models/score/scorers.hpp"

#include <algorithm>
#include <limits>

namespace bigbird::task_models {

namespace {

constexpr std::int64_t bases_a_token = 4;  // approximate; only for the size of a chunk
constexpr std::int64_t batches_a_chunk = 4, fewest_rows = 32, most_rows = 8192;

}  // namespace

void require_agreement(std::span<const ModelFolder> models) {
    if (models.empty()) throw ConfigError("--model is needed");
    const ModelFolder& first = models.front();
    for (std::size_t i = 1; i < models.size(); ++i) {
        const std::string which = "--model number " + std::to_string(i + 1);
        if (models[i].info.task != first.info.task || models[i].info.window != first.info.window) {
            throw ConfigError(which + " takes the window " + to_string(models[i].info.window) +
                              ", the first one " + to_string(first.info.window) +
                              ": models that are averaged must agree");
        }
        bool same = models[i].labels.size() == first.labels.size();
        for (std::size_t label = 0; same && label < first.labels.size(); ++label) {
            same = models[i].labels[label].name == first.labels[label].name &&
                   models[i].labels[label].group == first.labels[label].group;
        }
        if (!same) {
            throw ConfigError(which +
                              " has other labels than the first: models that are averaged must agree");
        }
    }
}

bool any_bins(std::span<const ModelFolder> models) {
    return std::ranges::any_of(
        models, [](const ModelFolder& model) { return model.bins() != nullptr; });
}

Predictor::Predictor(std::vector<ModelFolder> models, Strands strands, std::int64_t batch_tokens)
    : models_(std::move(models)), batch_tokens_(batch_tokens) {
    require_agreement(models_);
    std::vector<bool> directions;
    if (strands != Strands::only) directions.push_back(false);
    if (strands != Strands::none) directions.push_back(true);
    for (std::size_t m = 0; m < models_.size(); ++m) {
        std::vector<std::size_t>& mine = readings_of_.emplace_back();
        for (const bool reverse : directions) {
            std::size_t r = 0;
            while (r < readings_.size() &&
                   (readings_[r].reverse != reverse || models_[readings_[r].model].network->encoding_key() !=
                                                           models_[m].network->encoding_key()))
                ++r;
            if (r == readings_.size()) readings_.push_back({m, reverse});
            mine.push_back(r);
        }
    }
}

PreparedRows Predictor::encode(std::span<const std::string> sequences, int threads) const {
    std::vector<std::vector<EncodedWindow>> windows(sequences.size());
    parallel_for(static_cast<std::int64_t>(sequences.size()), threads, [&](std::int64_t index) {
        const std::string& forward = sequences[static_cast<std::size_t>(index)];
        for (const Reading& reading : readings_)
            windows[static_cast<std::size_t>(index)].push_back(
                models_[reading.model].network->encode(forward, reading.reverse));
    });
    PreparedRows encoded;
    encoded.readings.resize(readings_.size());
    for (std::size_t index = 0; index < windows.size(); ++index) {
        bool truncated = false;
        for (std::size_t r = 0; r < readings_.size() && !windows[index][r].all_n(); ++r) {
            truncated = truncated || windows[index][r].truncated;
            encoded.readings[r].push_back(std::move(windows[index][r]));
            if (r == 0) encoded.kept.push_back(index);
        }
        encoded.truncated.push_back(truncated);
    }
    return encoded;
}

std::vector<double> Predictor::probabilities(const PreparedRows& encoded,
                                             const std::function<void(double)>& after_batch) {
    const rows::LabelTable& labels = this->labels();
    const auto width = static_cast<std::int64_t>(labels.size());
    const auto kept = static_cast<std::int64_t>(encoded.kept.size());
    at::Tensor sum = at::zeros({kept, width}, at::kDouble);
    std::int64_t passes = 0, done = 0;
    for (const std::vector<std::size_t>& readings : readings_of_)
        passes += static_cast<std::int64_t>(readings.size());
    const auto tell = [&](std::int64_t windows) {
        done += windows;
        if (after_batch) after_batch(static_cast<double>(done) / static_cast<double>(passes * kept));
    };
    for (std::size_t m = 0; m < models_.size(); ++m) {
        for (const std::size_t reading : readings_of_[m]) {
            const at::Tensor logits =
                batched_logits(*models_[m].network, encoded.readings[reading], batch_tokens_, tell)
                    .squeeze(1);
            const at::Tensor scores = models_[m].calibration.probabilities(logits.to(at::kDouble));
            sum += readings_[reading].reverse ? on_other_strand(scores, labels) : scores;
        }
    }
    const at::Tensor mean = (sum / static_cast<double>(passes)).contiguous();  // (kept, labels)
    std::vector<double> scores(encoded.truncated.size() * labels.size(),
                               std::numeric_limits<double>::quiet_NaN());
    const auto* from = mean.data_ptr<double>();
    for (const std::size_t index : encoded.kept) {
        std::copy_n(from, width, scores.begin() + static_cast<std::ptrdiff_t>(index) * width);
        from += width;
    }
    return scores;
}

rows::RegionOptions Predictor::region_options(rows::Anchor anchor) const {
    const bool promoter = info().task == examples::Task::promoter;
    return {.anchor = promoter ? rows::Anchor::tss : anchor,
            .bounds = info().window,
            .use_strand = promoter,
            .tile_both_strands = promoter};
}

std::size_t Predictor::rows_a_chunk() const {
    const std::int64_t tokens = std::max<std::int64_t>(1, info().window.size() / bases_a_token);
    return static_cast<std::size_t>(
        std::clamp(batches_a_chunk * batch_tokens_ / tokens, fewest_rows, most_rows));
}

PreparedRows Predictor::prepare(std::span<rows::RegionRow> rows, int threads) const {
    std::vector<std::string> sequences;
    for (rows::RegionRow& row : rows) {
        sequences.push_back(rows::is_scored(row.head.status) ? std::move(row.sequence) : std::string());
        row.sequence.clear();
    }
    return encode(sequences, threads);
}

std::vector<float> Predictor::score(const PreparedRows& rows,
                                    const std::function<void(double)>& after_batch) {
    const std::vector<double> values = probabilities(rows, after_batch);
    std::vector<float> scores(values.size());
    std::ranges::transform(values, scores.begin(), [](double x) { return static_cast<float>(x); });
    return scores;
}

RowWindows::RowWindows(std::span<const ModelFolder> models, bool on_contigs)
    : about_tss(on_contigs && models.front().info.task == examples::Task::promoter),
      bounds(models.front().info.window) {
    whole_records = models.front().info.task == examples::Task::sequences &&
                    std::ranges::all_of(
                        models, [](const ModelFolder& model) { return model.network->any_length(); });
}

genome::Interval RowWindows::of(const genome::Interval& where, genome::Strand strand) const {
    if (whole_records) return where;
    genome::BedRecord record;
    record.where = where;
    record.strand = strand;
    return rows::window_of(record, about_tss ? rows::Anchor::tss : rows::Anchor::centre, bounds);
}

}  // namespace bigbird::task_models
