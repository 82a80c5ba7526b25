// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/score/scorers.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/parallel.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace bigbird::task_models {

namespace {

constexpr std::int64_t bases_a_token = 4;  // approximate; only for the size of a chunk
constexpr std::int64_t batches_a_chunk = 4, fewest_rows = 32, most_rows = 8192;
constexpr std::size_t rows_of_bins_a_chunk = 4096;
constexpr std::size_t scores_at_once = std::size_t{1} << 24;
constexpr std::size_t windows_kept = 4;

/// The window with a base in its core.
std::int64_t window_at(const bins::Grid& grid, std::int64_t base) {
    return grid.window_of(std::max<std::int64_t>(0, base) / grid.bin);
}

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

std::vector<bool> directions_of(Strands strands) {
    std::vector<bool> directions;
    if (strands != Strands::only) directions.push_back(false);
    if (strands != Strands::none) directions.push_back(true);
    return directions;
}

Predictor::Predictor(std::vector<ModelFolder> models, Strands strands, std::int64_t batch_tokens)
    : RowScorer(std::move(models)), batch_tokens_(batch_tokens) {
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

std::string cut_out(const std::string& record, const genome::Interval& where) {
    std::string window(static_cast<std::size_t>(where.size()), 'N');
    const std::int64_t first = std::max<std::int64_t>(where.begin, 0),
                       last = std::min(where.end, std::ssize(record));
    if (first < last)
        std::copy(record.begin() + first, record.begin() + last, window.begin() + (first - where.begin));
    return window;
}

SequenceOf sequence_of_record(std::string dna) {
    return [dna = std::move(dna)](const genome::Interval& where) { return cut_out(dna, where); };
}

bool begin_in_one_window(const bins::Grid& grid, const genome::Interval& a, const genome::Interval& b) {
    return a.contig == b.contig && window_at(grid, a.begin) == window_at(grid, b.begin);
}

std::int64_t count_new_windows(const bins::Grid& grid, const genome::Interval* before,
                               const genome::Interval& where) {
    const auto last_of = [&](const genome::Interval& of) {
        return window_at(grid, std::max(of.begin, of.end - 1));
    };
    std::int64_t first = window_at(grid, where.begin);
    if (before != nullptr && before->contig == where.contig && window_at(grid, before->begin) <= first)
        first = std::max(first, last_of(*before) + 1);
    return std::max<std::int64_t>(0, last_of(where) - first + 1);
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
    std::map<Place, std::vector<Share>> plan;
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

const at::Tensor* GridRows::find(const Place& place) const {
    const auto found = std::ranges::find_if(kept_, [&](const auto& entry) { return entry.first == place; });
    return found == kept_.end() ? nullptr : &found->second;
}

std::vector<at::Tensor> GridRows::read(const Plan& plan, std::size_t first) {
    if (const at::Tensor* kept = find(plan[first].first)) return {*kept};
    std::vector<std::string> windows;
    for (std::size_t i = first; i < plan.size() && windows.size() < at_once_ && !find(plan[i].first); ++i) {
        const Place& place = plan[i].first;
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

/// (windows, window_bins, labels) on the CPU.
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
        : RowScorer(std::move(models)),
          bin_(models_.front().bins()->grid().bin),
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
            readers_.emplace_back(network->grid(), sequence_of_, windows_at_once(*network, how.batch_tokens),
                                  [&model, how](std::span<const std::string> windows) {
                                      return probabilities_of(model, windows, how);
                                  });
        }
    }

    /// A row's window is the row itself or, for summits, the bases of one bin around the summit.
    rows::RegionOptions region_options(rows::Anchor anchor) const override {
        return {.anchor = anchor == rows::Anchor::summit ? anchor : rows::Anchor::itself,
                .bounds = {-(bin_ / 2), bin_ - bin_ / 2},
                .bin = bin_,
                .clip = true};
    }
    std::size_t rows_a_chunk() const override { return rows_of_bins_a_chunk; }
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

}  // namespace

std::unique_ptr<RowScorer> bins_scorer(std::vector<ModelFolder> models, SequenceOf sequence_of,
                                       const BinsScoring& how) {
    require_bins(models);
    return std::make_unique<BinsScorer>(std::move(models), std::move(sequence_of), how);
}

void require_one_grid(std::span<const ModelFolder> models) {
    require_agreement(models);
    for (const ModelFolder& model : models)
        if (!model.bins() || model.bins()->grid() != models.front().bins()->grid())
            throw ConfigError("models that are averaged must all be bin models with equal bins and windows");
}

EditedWindow::EditedWindow(std::span<const ModelFolder> models, Strands strands, const std::string& dna)
    : grid_(models.front().bins()->grid()) {
    const at::InferenceMode inference;
    for (const ModelFolder& model : models)
        for (const bool reverse : directions_of(strands))
            readings_.push_back({&model, reverse, model.bins()->edit(dna, reverse)});
}

template <typename Logits>
at::Tensor EditedWindow::mean_of(const Logits& logits) const {
    const at::InferenceMode inference;
    at::Tensor sum;
    for (const Reading& reading : readings_) {
        at::Tensor some =
            reading.model->calibration.probabilities(logits(reading).to(at::kDouble)).to(at::kCPU);
        if (reading.reverse) some = on_other_strand(some, reading.model->labels);
        sum = sum.defined() ? sum + some : some;
    }
    return (sum / static_cast<double>(readings_.size())).contiguous();
}

at::Tensor EditedWindow::reference() const {
    return mean_of([](const Reading& reading) {
        const at::Tensor logits = reading.bins->logits();
        return reading.reverse ? logits.flip(0) : logits;
    });
}

at::Tensor EditedWindow::edited(std::string_view dna) const {
    return mean_of([&](const Reading& reading) {
        const at::Tensor logits = reading.bins->logits(dna);
        return reading.reverse ? logits.flip(0) : logits;
    });
}

at::Tensor EditedWindow::substituted(std::span<const bins::Substitution> each, const at::Tensor& bins) const {
    constexpr std::uint8_t last_letter = 3;
    std::vector<bins::Substitution> turned(each.begin(), each.end());
    for (auto& [at, code] : turned) {
        at = grid_.window_bases() - 1 - at;
        if (code <= last_letter) code = static_cast<std::uint8_t>(last_letter - code);
    }
    return mean_of([&](const Reading& reading) {
        return reading.reverse ? reading.bins->logits(turned, grid_.window_bins - 1 - bins)
                               : reading.bins->logits(each, bins);
    });
}

double additive(double value, LinkFunction link) {
    constexpr double least = 1e-9;
    if (gives_probabilities(link)) return std::log(value) - std::log1p(-value);
    return link == LinkFunction::identity ? value : std::log(std::max(value, least));
}

std::string_view additive_effect(LinkFunction link) {
    if (gives_probabilities(link)) return "log_odds";
    return link == LinkFunction::identity ? "difference" : "log_ratio";
}

}  // namespace bigbird::task_models
