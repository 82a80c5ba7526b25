// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/predict/bins_scorer.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/genome/reference/sequence.hpp"

#include <algorithm>
#include <limits>

namespace bigbird::task_models {

namespace {

constexpr std::int64_t rows_a_chunk = 4096;

struct PlacedRows : PreparedRows {
    std::vector<GridRow> rows;
};

/// (windows, window_bins, labels) on the CPU.
at::Tensor probabilities_of(const BinNetwork& network, const ScoreCalibration& calibration,
                            std::span<const std::string> windows, const BinsScoring& how) {
    const at::InferenceMode inference;
    std::vector<EncodedWindow> forward(windows.size()), reverse(windows.size());
    parallel_for(std::ssize(windows), how.threads, [&](std::int64_t i) {
        const auto at = static_cast<std::size_t>(i);
        if (how.strands != Strands::only) forward[at] = network.encode(windows[at]);
        if (how.strands != Strands::none)
            reverse[at] = network.encode(genome::reverse_complement(windows[at]));
    });
    at::Tensor sum;
    if (how.strands != Strands::only) sum = calibration.probabilities(network.logits(forward));
    if (how.strands != Strands::none) {
        const at::Tensor turned = calibration.probabilities(network.logits(reverse)).flip(1);
        sum = sum.defined() ? (sum + turned) * 0.5 : turned;
    }
    return sum.to(at::kCPU);
}

std::size_t windows_at_once(const BinNetwork& network, std::int64_t batch_tokens) {
    if (network.device().is_cpu()) return 1;
    return static_cast<std::size_t>(std::max<std::int64_t>(1, batch_tokens / network.window_positions()));
}

void check_bins(const std::vector<TaskModel>& models) {
    const std::int64_t bin = models.front().bins->grid().bin;
    for (std::size_t i = 1; i < models.size(); ++i) {
        if (models[i].bins->grid().bin != bin) {
            throw ConfigError("--model number " + std::to_string(i + 1) + " has bins of " +
                              std::to_string(models[i].bins->grid().bin) + " bases, the first one of " +
                              std::to_string(bin) + ": models that are averaged must agree");
        }
    }
}

class BinsScorer : public RowScorer {
public:
    BinsScorer(std::vector<TaskModel> models, SequenceOf sequence_of, const BinsScoring& how)
        : models_(std::move(models)), sequence_of_(std::move(sequence_of)) {
        for (const TaskModel& model : models_) {
            const std::shared_ptr<BinNetwork> network = model.bins;
            readers_.emplace_back(
                network->grid(), sequence_of_, windows_at_once(*network, how.batch_tokens),
                [network, calibration = model.calibration, how](std::span<const std::string> windows) {
                    return probabilities_of(*network, calibration, windows, how);
                });
        }
    }

    std::span<const TaskModel> models() const override { return models_; }
    /// A row is what it overlaps; of a summit, the bin's bases about it.
    rows::RegionOptions region_options(rows::Anchor anchor) const override {
        const std::int64_t bin = models_.front().bins->grid().bin;
        return {.anchor = anchor == rows::Anchor::summit ? anchor : rows::Anchor::itself,
                .bounds = {-(bin / 2), bin - bin / 2},
                .bin = bin};
    }
    std::int64_t rows_a_chunk() const override { return task_models::rows_a_chunk; }
    std::unique_ptr<PreparedRows> prepare(std::span<rows::RegionRow> rows, int) const override {
        auto placed = std::make_unique<PlacedRows>();
        for (rows::RegionRow& row : rows) {
            placed->rows.push_back({row.window, rows::is_scored(row.head.status)});
            placed->rows.back().where.begin = std::max<std::int64_t>(0, row.window.begin);
            row.sequence.clear();
        }
        placed->truncated.assign(rows.size(), false);
        return placed;
    }
    bool together(const rows::RegionRow& before, const rows::RegionRow& row) const override {
        return begin_in_one_window(models_.front().bins->grid(), before.window, row.window);
    }
    std::int64_t new_windows(const rows::RegionRow* before, const rows::RegionRow& row) const override {
        if (!rows::is_scored(row.head.status)) return 0;
        return count_new_windows(models_.front().bins->grid(), before != nullptr ? &before->window : nullptr,
                                 row.window);
    }
    std::vector<float> score(const PreparedRows& prepared,
                             const std::function<void(double)>& after_batch) override {
        const auto& rows = dynamic_cast<const PlacedRows&>(prepared).rows;
        const std::size_t width = labels().size();
        std::vector<double> sums(rows.size() * width, 0);
        const auto models = static_cast<double>(readers_.size());
        for (std::size_t i = 0; i < readers_.size(); ++i) {
            readers_[i].add(rows, static_cast<std::int64_t>(width), sums, [&](double part) {
                if (after_batch) after_batch((static_cast<double>(i) + part) / models);
            });
        }
        std::vector<float> scores(sums.size(), std::numeric_limits<float>::quiet_NaN());
        for (std::size_t i = 0; i < sums.size(); ++i)
            if (rows[i / width].wanted) scores[i] = static_cast<float>(sums[i] / models);
        return scores;
    }

private:
    std::vector<TaskModel> models_;
    SequenceOf sequence_of_;
    std::vector<GridRows> readers_;
};

}  // namespace

std::unique_ptr<RowScorer> bins_scorer(std::vector<TaskModel> models, SequenceOf sequence_of,
                                       const BinsScoring& how) {
    for (std::size_t i = 0; i < models.size(); ++i) {
        if (!models[i].bins) {
            throw ConfigError("--model number " + std::to_string(i + 1) +
                              " scores one window a row, another one bins: they cannot be averaged");
        }
    }
    // Labels and tasks are compared as those of all models are.
    check_bins(models);
    const Predictor same(models, how.strands, 1);
    return std::make_unique<BinsScorer>(std::move(models), std::move(sequence_of), how);
}

}  // namespace bigbird::task_models
