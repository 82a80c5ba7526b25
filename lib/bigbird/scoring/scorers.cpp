// SPDX-License-Identifier: Apache-2.0
#include "bigbird/scoring/scorers.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/model/device/device.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace bigbird::tasks {

namespace {

constexpr std::int64_t bases_per_token = 4;  // approximate; only for the size of a chunk
constexpr std::int64_t batches_per_chunk = 4, fewest_rows = 32, most_rows = 8192;
constexpr std::size_t rows_of_bins_per_chunk = 4096, rows_of_bases_per_chunk = 1024;
constexpr std::size_t scores_at_once = std::size_t{1} << 24;
constexpr std::size_t windows_kept = 4;

}  // namespace

Predictor::Predictor(std::vector<ModelFolder> models, Strands strands, std::int64_t batch_tokens,
                     bool by_records)
    : RowScorer(std::move(models), by_records), batch_tokens_(batch_tokens) {
    for (std::size_t m = 0; m < models_.size(); ++m) {
        std::vector<std::size_t>& mine = readings_of_.emplace_back();
        for (const bool reverse : directions_of(strands)) {
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

std::size_t Predictor::rows_per_chunk() const {
    const std::int64_t tokens = std::max<std::int64_t>(1, info().window.size() / bases_per_token);
    return static_cast<std::size_t>(
        std::clamp(batches_per_chunk * batch_tokens_ / tokens, fewest_rows, most_rows));
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

std::size_t windows_at_once(const BinNetwork& network, std::int64_t batch_tokens) {
    if (network.device().is_cpu()) return 1;
    return static_cast<std::size_t>(network.windows_at_once(batch_tokens));
}

GridRows::GridRows(const bins::Grid& grid, const SequenceOf& sequence_of, std::size_t at_once, Values values)
    : grid_(grid), sequence_of_(sequence_of), at_once_(at_once), values_(std::move(values)) {}

void GridRows::add(std::span<const GridRow> rows, std::int64_t width, std::span<double> sums,
                   const std::function<void(double)>& after_window) {
    const Plan plan = plan_of(rows);
    const auto columns = static_cast<std::size_t>(width);
    for (std::size_t next = 0; next < plan.size();) {
        stop_if_asked();
        for (const at::Tensor& window : read(plan, next)) {
            const auto* const values = window.const_data_ptr<float>();  // (window_bins, width)
            for (const Share& share : plan[next].second) {
                const float* const bin = values + static_cast<std::size_t>(share.bin) * columns;
                const std::span<double> sum = sums.subspan(share.row * columns, columns);
                for (std::size_t i = 0; i < columns; ++i)
                    sum[i] += share.weight * static_cast<double>(bin[i]);
            }
            ++next;
            if (after_window) after_window(static_cast<double>(next) / static_cast<double>(plan.size()));
        }
    }
}

GridRows::Plan GridRows::plan_of(std::span<const GridRow> rows) const {
    std::map<WindowKey, std::vector<Share>> plan;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const genome::Interval& where = rows[i].where;
        if (!rows[i].wanted) continue;
        for (const bins::BinShare& share : bins::shares_of(where.begin, where.end, grid_.bin)) {
            plan[{where.contig, grid_.window_of(share.bin)}].push_back(
                {i, grid_.place_of(share.bin), share.weight});
        }
    }
    return {plan.begin(), plan.end()};
}

const at::Tensor* GridRows::find(const WindowKey& place) const {
    const auto found = std::ranges::find_if(kept_, [&](const auto& entry) { return entry.first == place; });
    return found == kept_.end() ? nullptr : &found->second;
}

std::vector<at::Tensor> GridRows::read(const Plan& plan, std::size_t first) {
    if (const at::Tensor* kept = find(plan[first].first)) return {*kept};
    std::vector<std::string> windows;
    for (std::size_t i = first; i < plan.size() && windows.size() < at_once_ && !find(plan[i].first); ++i) {
        const WindowKey& place = plan[i].first;
        const std::int64_t begin = grid_.begin_of(place.number);
        windows.push_back(sequence_of_({place.contig, begin, begin + grid_.window_bases()}));
    }
    const at::Tensor values = values_(windows).contiguous();
    std::vector<at::Tensor> each;
    for (std::size_t i = 0; i < windows.size(); ++i) {
        each.push_back(values[static_cast<std::int64_t>(i)]);
        kept_.emplace_back(plan[first + i].first, each.back());
        if (kept_.size() > windows_kept) kept_.pop_front();
    }
    return each;
}

namespace {

/// (windows, window_bins, labels) on the CPU, computed together.
at::Tensor probabilities_of(const ModelFolder& model, std::span<const std::string> windows,
                            const BinsScoring& how) {
    const at::InferenceMode inference;
    const std::shared_ptr<BinNetwork> network = model.bins();
    at::Tensor sum;
    for (const bool reverse : directions_of(how.strands)) {
        std::vector<EncodedWindow> encoded(windows.size());
        parallel_for(std::ssize(windows), how.threads, [&](std::int64_t i) {
            const auto at = static_cast<std::size_t>(i);
            encoded[at] = network->encode(windows[at], reverse);
        });
        at::Tensor some = model.calibration.probabilities(network->logits(encoded));
        if (reverse) some = on_other_strand(some.flip(1), model.labels);
        sum = sum.defined() ? (sum + some) * 0.5 : some;
    }
    return sum.to(at::kCPU);
}

/// The same by a pass for each window on a CPU.
at::Tensor probabilities_by_passes(const ModelFolder& model, std::span<const std::string> windows,
                                   const BinsScoring& how) {
    const BinNetwork& network = *model.bins();
    if (!network.device().is_cpu()) return probabilities_of(model, windows, how);
    std::vector<at::Tensor> each(windows.size());
    model::for_each_pass(std::ssize(each), network.shares_passes(), [&](std::int64_t i) {
        const auto at = static_cast<std::size_t>(i);
        each[at] = probabilities_of(model, windows.subspan(at, 1), how);
    });
    return at::cat(each);
}

class BinsScorer : public RowScorer {
public:
    BinsScorer(std::vector<ModelFolder> models, SequenceOf sequence_of, const BinsScoring& how)
        : RowScorer(std::move(models), !sequence_of),
          bin_(placement_.grid().bin),
          sequence_of_(std::move(sequence_of)),
          largest_(how.largest),
          own_sequences_(!sequence_of_) {
        if (own_sequences_) {
            sequence_of_ = [this](const genome::Interval& where) {
                return cut_out(scored_->sequences.at(where.contig), where);
            };
        }
        for (const ModelFolder& model : models_) {
            const std::shared_ptr<BinNetwork> network = model.bins();
            const auto threads = network->shares_passes() ? static_cast<std::size_t>(how.threads) : 1;
            readers_.emplace_back(network->grid(), sequence_of_,
                                  std::max(threads, windows_at_once(*network, how.batch_tokens)),
                                  [&model, how](std::span<const std::string> windows) {
                                      return probabilities_by_passes(model, windows, how);
                                  });
        }
    }

    std::size_t rows_per_chunk() const override { return rows_of_bins_per_chunk; }
    PreparedRows prepare(std::span<rows::RegionRow> rows, int) const override {
        PreparedRows placed{.truncated = std::vector<bool>(rows.size(), false)};
        for (rows::RegionRow& row : rows) {
            placed.places.push_back({row.window, rows::is_scored(row.head.status)});
            if (own_sequences_) placed.sequences.emplace(row.window.contig, std::move(row.sequence));
            row.sequence.clear();
        }
        return placed;
    }
    std::vector<float> score(const PreparedRows& prepared,
                             const std::function<void(double)>& after_batch) override {
        const std::vector<GridRow>& rows = prepared.places;
        scored_ = &prepared;
        const std::size_t width = labels().size();
        std::vector<float> scores(rows.size() * width, std::numeric_limits<float>::quiet_NaN());
        const std::int64_t all =
            std::transform_reduce(rows.begin(), rows.end(), std::int64_t{0}, std::plus(),
                                  [this](const GridRow& row) { return std::ssize(units_of(row)); });
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
            for (GridRow& unit : units_of(rows[i])) {
                units.where.push_back(std::move(unit));
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

    std::vector<GridRow> units_of(const GridRow& row) const {
        if (!largest_ || row.where.size() <= bin_) return {row};
        std::vector<GridRow> bins;
        for (std::int64_t begin = row.where.begin / bin_ * bin_; begin < row.where.end; begin += bin_)
            bins.push_back({{row.where.contig, begin, begin + bin_}, true});
        return bins;
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

    std::int64_t bin_;
    SequenceOf sequence_of_;
    bool largest_ = false, own_sequences_ = false;
    const PreparedRows* scored_ = nullptr;  ///< while their scores are computed
    std::vector<GridRows> readers_;
};

class BasesScorer : public RowScorer {
public:
    BasesScorer(std::vector<ModelFolder> models, SequenceOf sequence_of, Strands strands,
                std::int64_t batch_tokens)
        : RowScorer(std::move(models), false),
          sequence_of_(std::move(sequence_of)),
          batch_tokens_(batch_tokens) {
        for (const ModelFolder& model : models_)
            for (const bool reverse : directions_of(strands))
                readings_.push_back({&model, reverse});
    }

    std::size_t rows_per_chunk() const override { return rows_of_bases_per_chunk; }
    std::size_t values_of(const rows::RegionRow& row) const override {
        return rows::is_scored(row.head.status) ? row.sequence.size() * labels().size() : 0;
    }
    PreparedRows prepare(std::span<rows::RegionRow> rows, int threads) const override {
        PreparedRows prepared{.truncated = std::vector<bool>(rows.size(), false)};
        std::map<genome::Interval, std::size_t> numbers;
        std::vector<genome::Interval> windows;
        const bins::Grid& grid = placement_.grid();
        for (const rows::RegionRow& row : rows) {
            if (!rows::is_scored(row.head.status)) continue;
            const std::int64_t begin = grid.begin_of(grid.window_of(row.window.begin));
            const genome::Interval window{row.window.contig, begin, begin + grid.window_bases()};
            const auto [found, is_new] = numbers.emplace(window, windows.size());
            if (is_new) windows.push_back(window);
            prepared.places.push_back({row.window, true});
            prepared.window_of.push_back(found->second);
        }
        prepared.readings.assign(readings_.size(), std::vector<EncodedWindow>(windows.size()));
        parallel_for(std::ssize(windows), threads, [&](std::int64_t i) {
            const auto at = static_cast<std::size_t>(i);
            const std::string dna = sequence_of_(windows[at]);
            for (std::size_t r = 0; r < readings_.size(); ++r)
                prepared.readings[r][at] = readings_[r].model->network->encode(dna, readings_[r].reverse);
        });
        return prepared;
    }
    std::vector<float> score(const PreparedRows& rows,
                             const std::function<void(double)>& after_batch) override {
        const at::NoGradGuard no_gradients;
        std::vector<std::vector<RowScores>> of_windows(rows.readings.front().size());
        std::size_t count = 0;  // scores before the row
        for (std::size_t i = 0; i < rows.places.size(); ++i) {
            const genome::Interval& where = rows.places[i].where;
            const std::int64_t first = placement_.grid().place_of(where.begin);
            of_windows[rows.window_of[i]].push_back({first, first + where.size(), count});
            count += static_cast<std::size_t>(where.size()) * labels().size();
        }
        std::vector<double> sums(count, 0);
        for (std::size_t r = 0; r < readings_.size(); ++r) {
            add(
                readings_[r], rows.readings[r], of_windows, sums,
                [&](double part) {
                    if (after_batch)
                        after_batch((static_cast<double>(r) + part) / static_cast<double>(readings_.size()));
                });
        }
        std::vector<float> scores(count);
        std::ranges::transform(sums, scores.begin(), [&](double sum) {
            return static_cast<float>(sum / static_cast<double>(readings_.size()));
        });
        return scores;
    }

private:
    struct Reading {
        const ModelFolder* model;
        bool reverse;
    };
    /// The bases of a row, from its window's first base, and where their scores begin.
    struct RowScores {
        std::int64_t begin, end;
        std::size_t scores;
    };

    /// Adds the scores of one reading of all windows.
    void add(const Reading& reading, std::span<const EncodedWindow> windows,
             const std::vector<std::vector<RowScores>>& of_windows, std::vector<double>& sums,
             const std::function<void(double)>& after_group) const {
        const auto& [model, reverse] = reading;
        const TaskNetwork& network = *model->network;
        const auto groups = network.group(windows, batch_tokens_, model::sizes_for_scores(network.device()));
        for (std::size_t g = 0; g < groups.size(); ++g) {
            stop_if_asked();
            const at::Tensor all = model->calibration.probabilities(network.logits(windows, groups[g]))
                                       .to(at::kCPU)
                                       .contiguous();  // (group, tokens, labels)
            for (std::size_t i = 0; i < groups[g].size(); ++i) {
                const std::size_t window = groups[g][i];
                if (i > 0 && window == groups[g][i - 1]) break;  // the group is filled up
                const at::Tensor values = all[static_cast<std::int64_t>(i)];
                const std::vector<std::int64_t> tokens =
                    tokens_of_bases(network.spans(windows[window]), reverse);
                for (const RowScores& row : of_windows[window])
                    add(row, tokens, values.const_data_ptr<float>(), sums);
            }
            after_group(static_cast<double>(g + 1) / static_cast<double>(groups.size()));
        }
    }
    /// The token of each base of a window; -1: none.
    std::vector<std::int64_t> tokens_of_bases(std::span<const TokenSpan> spans, bool reverse) const {
        std::vector<std::int64_t> tokens(static_cast<std::size_t>(placement_.grid().window_bases()), -1);
        for (std::size_t token = 0; token < spans.size(); ++token)
            std::fill(tokens.begin() + spans[token].begin, tokens.begin() + spans[token].end,
                      static_cast<std::int64_t>(token));
        if (reverse) std::ranges::reverse(tokens);
        return tokens;
    }
    void add(const RowScores& row, std::span<const std::int64_t> tokens, const float* values,
             std::vector<double>& sums) const {
        const std::size_t width = labels().size();
        double* sum = sums.data() + row.scores;
        for (std::int64_t base = row.begin; base < row.end; ++base) {
            const std::int64_t token = tokens[static_cast<std::size_t>(base)];
            for (std::size_t i = 0; i < width; ++i)
                *sum++ += token < 0
                              ? std::numeric_limits<double>::quiet_NaN()
                              : static_cast<double>(values[static_cast<std::size_t>(token) * width + i]);
        }
    }

    SequenceOf sequence_of_;
    std::int64_t batch_tokens_;
    std::vector<Reading> readings_;
};

}  // namespace

std::unique_ptr<RowScorer> bases_scorer(std::vector<ModelFolder> models, SequenceOf sequence_of,
                                        Strands strands, std::int64_t batch_tokens) {
    return std::make_unique<BasesScorer>(std::move(models), std::move(sequence_of), strands, batch_tokens);
}

std::unique_ptr<RowScorer> bins_scorer(std::vector<ModelFolder> models, SequenceOf sequence_of,
                                       const BinsScoring& how) {
    return std::make_unique<BinsScorer>(std::move(models), std::move(sequence_of), how);
}

}  // namespace bigbird::tasks
