// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/error.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/task_models/score/scorers.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

namespace bigbird::task_models {

namespace {

constexpr std::size_t most_rows = 4096;
constexpr std::size_t scores_at_once = std::size_t{1} << 24;

/// (windows, window_bins, labels) on the CPU.
at::Tensor probabilities_of(const ModelFolder& model, std::span<const std::string> windows,
                            const BinsScoring& how) {
    const at::InferenceMode inference;
    const std::shared_ptr<BinNetwork> network = model.bins();
    std::vector<EncodedWindow> forward(windows.size()), reverse(windows.size());
    parallel_for(std::ssize(windows), how.threads, [&](std::int64_t i) {
        const auto at = static_cast<std::size_t>(i);
        if (how.strands != Strands::only) forward[at] = network->encode(windows[at]);
        if (how.strands != Strands::none) reverse[at] = network->encode(windows[at], true);
    });
    at::Tensor sum;
    if (how.strands != Strands::only) sum = model.calibration.probabilities(network->logits(forward));
    if (how.strands != Strands::none) {
        const at::Tensor turned =
            on_other_strand(model.calibration.probabilities(network->logits(reverse)).flip(1), model.labels);
        sum = sum.defined() ? (sum + turned) * 0.5 : turned;
    }
    return sum.to(at::kCPU);
}

void require_bins(std::span<const ModelFolder> models) {
    for (std::size_t i = 0; i < models.size(); ++i) {
        const std::string which = "--model number " + std::to_string(i + 1);
        if (!models[i].bins())
            throw ConfigError(which + " scores one window a row, another one bins: they cannot be averaged");
        const std::int64_t bin = models[i].bins()->grid().bin, first = models.front().bins()->grid().bin;
        if (bin != first) {
            throw ConfigError(which + " has bins of " + std::to_string(bin) + " bases, the first one of " +
                              std::to_string(first) + ": models that are averaged must agree");
        }
    }
}

class BinsScorer : public RowScorer {
public:
    BinsScorer(std::vector<ModelFolder> models, SequenceOf sequence_of, const BinsScoring& how)
        : models_(std::move(models)),
          bin_(models_.front().bins()->grid().bin),
          sequence_of_(std::move(sequence_of)),
          largest_(how.largest),
          own_sequences_(how.own_sequences) {
        if (own_sequences_) {
            sequence_of_ = [this](const genome::Interval& where) {
                return cut_out(scored_->sequences.at(where.contig), where);
            };
        }
        for (const ModelFolder& model : models_) {
            const std::shared_ptr<BinNetwork> network = model.bins();
            readers_.emplace_back(network->grid(), sequence_of_, windows_at_once(*network, how.batch_tokens),
                                  [&model, how](std::span<const std::string> windows) {
                                      return probabilities_of(model, windows, how);
                                  });
        }
    }

    std::span<const ModelFolder> models() const override { return models_; }
    /// A row's window is the row itself or, for summits, the bases of one bin around the summit.
    rows::RegionOptions region_options(rows::Anchor anchor) const override {
        return {.anchor = anchor == rows::Anchor::summit ? anchor : rows::Anchor::itself,
                .bounds = {-(bin_ / 2), bin_ - bin_ / 2},
                .bin = bin_,
                .clip = true};
    }
    std::size_t rows_a_chunk() const override { return most_rows; }
    PreparedRows prepare(std::span<rows::RegionRow> rows, int) const override {
        PreparedRows placed{.truncated = std::vector<bool>(rows.size(), false)};
        for (rows::RegionRow& row : rows) {
            placed.places.push_back({row.window, rows::is_scored(row.head.status)});
            if (own_sequences_) placed.sequences.emplace(row.window.contig, std::move(row.sequence));
            row.sequence.clear();
        }
        return placed;
    }
    bool together(const rows::RegionRow& before, const rows::RegionRow& row) const override {
        return begin_in_one_window(models_.front().bins()->grid(), before.window, row.window);
    }
    std::int64_t new_windows(const rows::RegionRow* before, const rows::RegionRow& row) const override {
        if (!rows::is_scored(row.head.status)) return 0;
        return count_new_windows(models_.front().bins()->grid(),
                                 before != nullptr ? &before->window : nullptr, row.window);
    }
    std::vector<float> score(const PreparedRows& prepared,
                             const std::function<void(double)>& after_batch) override {
        const std::vector<GridRow>& rows = prepared.places;
        scored_ = &prepared;
        const std::size_t width = labels().size();
        std::vector<float> scores(rows.size() * width, std::numeric_limits<float>::quiet_NaN());
        const std::int64_t all = std::transform_reduce(
            rows.begin(), rows.end(), std::int64_t{0}, std::plus(),
            [this](const GridRow& row) { return last_unit(row) - first_unit(row) + 1; });
        std::int64_t done = 0;
        Units units;
        const auto flush = [&] {
            score(units, scores, [&](double part) {
                const double now = static_cast<double>(done) + part * static_cast<double>(units.where.size());
                if (after_batch) after_batch(now / static_cast<double>(all));
            });
            done += std::ssize(units.where);
            units = {};
        };
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (!rows[i].wanted) continue;
            for (std::int64_t unit = first_unit(rows[i]); unit <= last_unit(rows[i]); ++unit) {
                units.where.push_back(unit_of(rows[i], unit));
                units.row.push_back(i);
                if (units.where.size() * width >= scores_at_once) flush();
            }
        }
        flush();
        return scores;
    }

private:
    /// Units of scoring: rows, or bins of rows.
    struct Units {
        std::vector<GridRow> where;
        std::vector<std::size_t> row;  ///< row of each unit
    };

    bool is_cut(const GridRow& row) const { return largest_ && row.where.size() > bin_; }
    std::int64_t first_unit(const GridRow& row) const { return is_cut(row) ? row.where.begin / bin_ : 0; }
    std::int64_t last_unit(const GridRow& row) const { return is_cut(row) ? (row.where.end - 1) / bin_ : 0; }
    GridRow unit_of(const GridRow& row, std::int64_t unit) const {
        if (!is_cut(row)) return row;
        return {{row.where.contig, unit * bin_, (unit + 1) * bin_}, true};
    }
    /// Puts the largest score of each row's units into `scores`, which may hold scores of other units.
    void score(const Units& units, std::vector<float>& scores, const std::function<void(double)>& after) {
        const std::size_t width = labels().size();
        std::vector<double> sums(units.where.size() * width, 0);
        const auto models = static_cast<double>(readers_.size());
        for (std::size_t i = 0; i < readers_.size(); ++i) {
            readers_[i].add(
                units.where, static_cast<std::int64_t>(width), sums,
                [&](double part) { after((static_cast<double>(i) + part) / models); });
        }
        for (std::size_t i = 0; i < sums.size(); ++i) {
            float& best = scores[units.row[i / width] * width + i % width];
            const auto score = static_cast<float>(sums[i] / models);
            if (std::isnan(best) || score > best) best = score;
        }
    }

    std::vector<ModelFolder> models_;
    std::int64_t bin_;
    SequenceOf sequence_of_;
    bool largest_ = false, own_sequences_ = false;
    const PreparedRows* scored_ = nullptr;  ///< while their scores are computed
    std::vector<GridRows> readers_;
};

}  // namespace

std::unique_ptr<RowScorer> bins_scorer(std::vector<ModelFolder> models, SequenceOf sequence_of,
                                       const BinsScoring& how) {
    require_bins(models);
    require_agreement(models);
    return std::make_unique<BinsScorer>(std::move(models), std::move(sequence_of), how);
}

}  // namespace bigbird::task_models
