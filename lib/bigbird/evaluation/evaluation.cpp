// SPDX-License-Identifier: Apache-2.0
#include "bigbird/evaluation/evaluation.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/core/progress.hpp"
#include "bigbird/core/statistics/bootstrap_interval.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace bigbird::evaluation {

namespace {

/// A label's areas, over all rows and over each resample. The ranking takes 13 bytes per row, so only the
/// label that each thread works on has one.
struct MeasuredLabel {
    LabelFigures figures;
    Areas areas;
    std::vector<Areas> resampled;
};

/// Sets all figures, in the order of Evaluation::all.
void set_figures(Evaluation& evaluation, const std::vector<Figure>& figures) {
    auto next = figures.begin();
    for (LabelFigures& label : evaluation.labels)
        for (Figure* one : {&label.roc_auc, &label.average_precision})
            *one = *next++;
    for (GroupFigures& group : evaluation.groups)
        for (Figure* one : {&group.mean_roc_auc, &group.median_roc_auc, &group.mean_average_precision,
                            &group.median_average_precision})
            *one = *next++;
    if (auto& at = evaluation.at_threshold)
        for (Figure* one : {&at->f1, &at->precision, &at->recall, &at->mcc, &at->accuracy})
            *one = *next++;
}

class Evaluator {
public:
    Evaluator(const examples::ExampleSet& examples, const ScoredExamples& scored,
              const EvaluationOptions& options)
        : examples_(examples), scored_(scored), options_(options) {
        const Rng stream = Rng(options.seed).split("bootstrap");
        const int resamples = scored.block_count > 1 ? options.resamples : 0;
        for (int i = 0; i < resamples; ++i)
            draws_.push_back(draw_blocks(stream, i, scored.block_count));
    }

    Evaluation run() {
        result_.rows = static_cast<std::int64_t>(scored_.rows.size());
        result_.not_scored = scored_.not_scored;
        result_.blocks = scored_.block_count;
        measure_labels();
        const rows::LabelTable& table = examples_.label_table();
        if (table.groups().size() > 1) add_group("all", true);
        for (const std::string& name : table.groups())
            add_group(name, false);
        if (examples_.task() == examples::Task::promoter)
            result_.at_threshold = {.threshold = options_.threshold, .counts = confusion_of({})};
        result_.all.whole = figures();
        for (std::size_t i = 0; i < draws_.size(); ++i)
            result_.all.resampled.push_back(figures(i));
        set_figures(result_, with_intervals(result_.all));
        ReliabilityCounter counter;
        for (std::size_t i = 0; i < result_.labels.size(); ++i)
            if (result_.labels[i].summarised) counter.add(scored_.labels[i].scores, scored_.labels[i].truths);
        result_.reliability = counter.reliability();
        return std::move(result_);
    }

private:
    void measure_labels() {
        const std::int64_t count = std::ssize(scored_.labels);
        Progress progress("intervals", "labels", count);
        const std::function<MeasuredLabel(std::int64_t)> make = [&](std::int64_t index) {
            return measure(scored_.labels[static_cast<std::size_t>(index)]);
        };
        ordered_pipeline<MeasuredLabel>(count, options_.threads, make, [&](MeasuredLabel&& label) {
            result_.labels.push_back(std::move(label.figures));
            measured_.push_back(std::move(label));
            progress.update(std::ssize(measured_));
        });
    }

    MeasuredLabel measure(const LabelScores& label) const {
        MeasuredLabel measured;
        const auto rows = std::ssize(label.truths);
        const std::int64_t positives = std::ranges::count(label.truths, 1);
        LabelFigures& figures = measured.figures;
        figures.label = label.label;
        figures.positives = positives;
        figures.base_rate = static_cast<double>(positives) / static_cast<double>(rows);
        figures.summarised =
            positives >= std::max<std::int64_t>(1, options_.min_positives) && positives < rows;
        if (figures.summarised) figures.curve = curve_of(label.scores, label.truths);
        const Ranking ranking(label.scores, label.truths, scored_.blocks);
        measured.areas = ranking.areas();
        for (const std::vector<std::uint32_t>& times : draws_) {
            stop_if_asked();
            measured.resampled.push_back(ranking.areas(times));
        }
        return measured;
    }

    /// Adds a group, or all labels, unless it has no labels.
    void add_group(const std::string& name, bool all) {
        GroupFigures group{.group = name};
        FigureValues rates;
        for (std::size_t i = 0; i < result_.labels.size(); ++i) {
            const LabelFigures& label = result_.labels[i];
            if (!all && examples_.label_table()[label.label].group != name) continue;
            ++group.labels;
            if (!label.summarised) continue;
            group.members.push_back(i);
            rates.emplace_back(label.base_rate);
        }
        group.defined = std::ssize(group.members);
        group.mean_base_rate = summarise(rates).mean;
        if (group.labels > 0) result_.groups.push_back(std::move(group));
    }

    /// Two areas per label, four figures per group, five at the threshold; of all rows, or of a resample.
    FigureValues figures(std::optional<std::size_t> resample = {}) const {
        FigureValues values;
        for (const MeasuredLabel& label : measured_) {
            const Areas& areas = resample ? label.resampled[*resample] : label.areas;
            values.insert(values.end(), {areas.roc_auc, areas.average_precision});
        }
        for (const GroupFigures& group : result_.groups) {
            FigureValues roc_auc, average_precision;
            for (const std::size_t member : group.members) {
                roc_auc.push_back(values[2 * member]);
                average_precision.push_back(values[2 * member + 1]);
            }
            for (const FigureValues* one : {&roc_auc, &average_precision}) {
                const Summary summary = summarise(*one);
                values.insert(values.end(), {summary.mean, summary.median});
            }
        }
        if (examples_.task() == examples::Task::promoter) {
            const Confusion counts = resample ? confusion_of(draws_[*resample]) : confusion_of({});
            values.insert(values.end(), {counts.f1(), counts.precision(), counts.recall(), counts.mcc(),
                                         counts.accuracy()});
        }
        return values;
    }

    Confusion confusion_of(std::span<const std::uint32_t> times) const {
        const LabelScores& label = scored_.labels.front();
        Confusion counts;
        for (std::size_t i = 0; i < label.scores.size(); ++i) {
            const bool predicted = static_cast<double>(label.scores[i]) >= options_.threshold;
            counts.count(label.truths[i] != 0, predicted, times.empty() ? 1 : times[scored_.blocks[i]]);
        }
        return counts;
    }

    const examples::ExampleSet& examples_;
    const ScoredExamples& scored_;
    const EvaluationOptions& options_;
    std::vector<std::vector<std::uint32_t>> draws_;  ///< how often each block is drawn, by resample
    std::vector<MeasuredLabel> measured_;
    Evaluation result_;
};

}  // namespace

std::vector<Figure> with_intervals(const ResampledFigures& figures) {
    std::vector<Figure> result;
    for (std::size_t i = 0; i < figures.whole.size(); ++i) {
        Figure& figure = result.emplace_back(Figure{figures.whole[i], {}, {}});
        std::vector<double> defined;
        for (const FigureValues& values : figures.resampled)
            if (values[i]) defined.push_back(*values[i]);
        if (!figure.value || defined.empty() || 2 * defined.size() < figures.resampled.size()) continue;
        const ConfidenceInterval interval = bias_corrected_interval(*figure.value, defined);
        figure.low = interval.low;
        figure.high = interval.high;
    }
    return result;
}

std::vector<Figure> differences(const ResampledFigures& of, const ResampledFigures& from) {
    const auto minus = [](FigureValues values, const FigureValues& others) {
        for (std::size_t i = 0; i < values.size(); ++i)
            values[i] = values[i] && others[i] ? std::optional(*values[i] - *others[i]) : std::nullopt;
        return values;
    };
    ResampledFigures result{minus(of.whole, from.whole), {}};
    for (std::size_t r = 0; r < of.resampled.size(); ++r)
        result.resampled.push_back(minus(of.resampled[r], from.resampled[r]));
    return with_intervals(result);
}

Evaluation difference(Evaluation of, const Evaluation& from) {
    set_figures(of, differences(std::exchange(of.all, {}), from.all));
    return of;
}

std::vector<std::uint32_t> draw_blocks(const Rng& stream, std::int64_t index, std::size_t blocks) {
    Rng rng = stream.split(static_cast<std::uint64_t>(index));
    std::vector<std::uint32_t> times(blocks, 0);
    for (std::size_t i = 0; i < blocks; ++i)
        ++times[static_cast<std::size_t>(rng.between(0, static_cast<std::int64_t>(blocks) - 1))];
    return times;
}

void EvaluationOptions::validate() const {
    const auto require = [](bool fine, const char* what) {
        if (!fine) throw ConfigError(what);
    };
    require(min_positives >= 1, "--min-positives must be at least 1");
    require(resamples >= 0, "--resamples must not be negative");
    require(block_size >= 1, "--block-size must be at least 1");
}

Evaluation evaluate(const examples::ExampleSet& examples, const ScoredExamples& scored,
                    const EvaluationOptions& options) {
    options.validate();
    return Evaluator(examples, scored, options).run();
}

}  // namespace bigbird::evaluation
