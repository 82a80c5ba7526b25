// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/predict/bins_scorer.hpp"

#include "bigbird/bins/grid.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/genome/reference/sequence.hpp"
#include "bigbird/task_models/bins_model.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <map>

namespace bigbird::task_models {

namespace {

constexpr std::int64_t rows_a_chunk = 4096;
constexpr std::size_t windows_kept = 4;  // of a model, for rows that come

struct PlacedRows : PreparedRows {
    struct Row {
        genome::Interval where;
        bool scored = false;
    };
    std::vector<Row> rows;
};

/// A window of a contig's grid.
struct WindowPlace {
    std::string contig;
    std::int64_t number = 0;
    auto operator<=>(const WindowPlace&) const = default;
};

/// What a row takes of a window.
struct Share {
    std::size_t row = 0;
    std::int64_t bin = 0;  ///< from the window's first
    double weight = 0;
};
using Plan = std::map<WindowPlace, std::vector<Share>>;

bins::Grid grid_of(const bins::BinsConfig& config) {
    return {.bin = config.bin, .window_bins = config.window_bins, .margin_bins = config.margin_bins};
}

Plan plan_of(const PlacedRows& rows, const bins::Grid& grid) {
    Plan plan;
    for (std::size_t i = 0; i < rows.rows.size(); ++i) {
        const PlacedRows::Row& row = rows.rows[i];
        if (!row.scored) continue;
        for (const bins::BinShare& share : bins::shares_of(row.where.begin, row.where.end, grid.bin)) {
            plan[{row.where.contig, grid.window_of(share.bin)}].push_back(
                {i, grid.place_of(share.bin), share.weight});
        }
    }
    return plan;
}

/// One model's probabilities of windows, the last ones kept.
class WindowScores {
public:
    WindowScores(bins::BinsNetwork network, const SequenceOf& sequence_of, const BinsScoring& how)
        : network_(std::move(network)),
          device_(network_->output_bias().device()),
          grid_(grid_of(network_->config())),
          sequence_of_(sequence_of),
          how_(how) {
        network_->set_attention_backend(how.computing.attention);
        const std::int64_t fitting = how.batch_tokens / network_->config().window_positions();
        at_once_ = device_.is_cpu() ? 1 : static_cast<std::size_t>(std::max<std::int64_t>(1, fitting));
    }

    const bins::Grid& grid() const { return grid_; }

    /// Calls take(place, probabilities (window_bins, labels) float32 on the CPU) for each window of the plan,
    /// in order.
    void visit(const Plan& plan, const std::function<void(const WindowPlace&, const at::Tensor&)>& take) {
        auto next = plan.begin();
        while (next != plan.end()) {
            if (const at::Tensor* kept = find(next->first)) {
                take(next->first, *kept);
                ++next;
                continue;
            }
            std::vector<WindowPlace> places;
            for (; next != plan.end() && places.size() < at_once_ && !find(next->first); ++next)
                places.push_back(next->first);
            const at::Tensor scores = compute(places);
            for (std::size_t i = 0; i < places.size(); ++i) {
                const at::Tensor one = scores[static_cast<std::int64_t>(i)];
                keep(places[i], one);
                take(places[i], one);
            }
        }
    }

private:
    const at::Tensor* find(const WindowPlace& place) const {
        const auto found =
            std::ranges::find_if(kept_, [&](const auto& entry) { return entry.first == place; });
        return found == kept_.end() ? nullptr : &found->second;
    }
    void keep(const WindowPlace& place, const at::Tensor& scores) {
        kept_.emplace_back(place, scores);
        if (kept_.size() > windows_kept) kept_.pop_front();
    }

    /// (places, window_bins, labels)
    at::Tensor compute(const std::vector<WindowPlace>& places) {
        stop_if_asked();
        const at::InferenceMode inference;
        std::vector<std::string> forward(places.size()), reverse(places.size());
        parallel_for(std::ssize(places), how_.threads, [&](std::int64_t i) {
            const WindowPlace& place = places[static_cast<std::size_t>(i)];
            const std::int64_t begin = grid_.begin_of(place.number);
            std::string& dna = forward[static_cast<std::size_t>(i)];
            dna = sequence_of_({place.contig, begin, begin + grid_.window_bases()});
            if (how_.strands != Strands::none)
                reverse[static_cast<std::size_t>(i)] = genome::reverse_complement(dna);
        });
        const auto probabilities = [&](const std::vector<std::string>& sequences) {
            return bin_logits(network_, window_codes(sequences, device_), how_.computing.type).sigmoid();
        };
        at::Tensor sum;
        if (how_.strands != Strands::only) sum = probabilities(forward);
        if (how_.strands != Strands::none) {
            const at::Tensor turned = probabilities(reverse).flip(1);
            sum = sum.defined() ? (sum + turned) * 0.5 : turned;
        }
        return sum.to(at::kCPU).contiguous();
    }

    bins::BinsNetwork network_;
    at::Device device_;
    bins::Grid grid_;
    const SequenceOf& sequence_of_;
    BinsScoring how_;
    std::size_t at_once_ = 1;
    std::deque<std::pair<WindowPlace, at::Tensor>> kept_;
};

void check_bins(const std::vector<TaskModel>& models) {
    const std::int64_t bin = models.front().bins->config().bin;
    for (std::size_t i = 1; i < models.size(); ++i) {
        if (models[i].bins->config().bin != bin) {
            throw ConfigError("--model number " + std::to_string(i + 1) + " has bins of " +
                              std::to_string(models[i].bins->config().bin) + " bases, the first one of " +
                              std::to_string(bin) + ": models that are averaged must agree");
        }
    }
}

class BinsScorer : public RowScorer {
public:
    BinsScorer(std::vector<TaskModel> models, SequenceOf sequence_of, const BinsScoring& how)
        : models_(std::move(models)), sequence_of_(std::move(sequence_of)) {
        for (const TaskModel& model : models_)
            scores_.push_back(std::make_unique<WindowScores>(model.bins, sequence_of_, how));
    }

    std::span<const TaskModel> models() const override { return models_; }
    /// A row is what it overlaps; of a summit, the bin's bases about it.
    rows::RegionOptions region_options(rows::Anchor anchor) const override {
        const std::int64_t bin = models_.front().bins->config().bin;
        return {.anchor = anchor == rows::Anchor::summit ? anchor : rows::Anchor::itself,
                .bounds = {-(bin / 2), bin - bin / 2}};
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
    std::vector<float> score(const PreparedRows& prepared,
                             const std::function<void(double)>& after_batch) override {
        const auto& rows = dynamic_cast<const PlacedRows&>(prepared);
        const std::size_t labels = this->labels().size();
        std::vector<double> sums(rows.rows.size() * labels, 0);
        double done = 0;
        for (const auto& scores : scores_) {
            const Plan plan = plan_of(rows, scores->grid());
            const double part =
                1.0 / static_cast<double>(std::max<std::size_t>(1, plan.size() * scores_.size()));
            scores->visit(plan, [&](const WindowPlace& place, const at::Tensor& probabilities) {
                add(plan.at(place), probabilities, sums, labels);
                done += part;
                if (after_batch) after_batch(std::min(done, 1.0));
            });
        }
        return means(rows, sums, labels);
    }

private:
    static void add(const std::vector<Share>& shares, const at::Tensor& probabilities,
                    std::vector<double>& sums, std::size_t labels) {
        const auto* const from = probabilities.const_data_ptr<float>();
        for (const Share& share : shares) {
            const float* const bin = from + static_cast<std::size_t>(share.bin) * labels;
            double* const sum = sums.data() + share.row * labels;
            for (std::size_t label = 0; label < labels; ++label)
                sum[label] += share.weight * static_cast<double>(bin[label]);
        }
    }
    std::vector<float> means(const PlacedRows& rows, const std::vector<double>& sums,
                             std::size_t labels) const {
        std::vector<float> scores(sums.size(), std::numeric_limits<float>::quiet_NaN());
        const auto models = static_cast<double>(scores_.size());
        for (std::size_t row = 0; row < rows.rows.size(); ++row) {
            if (!rows.rows[row].scored) continue;
            for (std::size_t i = row * labels; i < (row + 1) * labels; ++i)
                scores[i] = static_cast<float>(sums[i] / models);
        }
        return scores;
    }

    std::vector<TaskModel> models_;
    SequenceOf sequence_of_;
    std::vector<std::unique_ptr<WindowScores>> scores_;
};

}  // namespace

std::unique_ptr<RowScorer> bins_scorer(std::vector<TaskModel> models, SequenceOf sequence_of,
                                       const BinsScoring& how) {
    for (std::size_t i = 0; i < models.size(); ++i) {
        if (models[i].bins.is_empty()) {
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
