// SPDX-License-Identifier: Apache-2.0
#include "bigbird/evaluation/sequences/sequence_evaluation.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/core/progress.hpp"
#include "bigbird/core/version.hpp"
#include "bigbird/evaluation/sequences/coverage_regions.hpp"
#include "bigbird/evaluation/sequences/sequence_scores.hpp"
#include "bigbird/examples/example_format.hpp"
#include "bigbird/examples/example_writer.hpp"

#include <functional>
#include <unordered_map>

namespace bigbird::evaluation {

namespace {

constexpr std::size_t most_points = 2000;
/// Bins this long or longer have no profiles; the bases of a profile (BPNet's).
constexpr std::int64_t too_long_for_profiles = 16, profile_bases = 1000;

class Evaluating {
public:
    explicit Evaluating(const EvaluationRequest& request)
        : request_(request), examples_(examples::ExampleSet::load(request.examples)) {
        request.options.validate();
        if (examples_.task() != examples::Task::sequences &&
            examples_.target() != examples::TargetKind::numbers) {
            throw InputError("holds " + std::string(to_string(examples_.task())) +
                                 " examples; use evaluate-" + std::string(to_string(examples_.task())),
                             request.examples);
        }
        const bool fits =
            examples_.target() == examples::TargetKind::labels ||
            (examples_.target() == examples::TargetKind::classes && examples_.label_table().size() == 2);
        if (is_given() && !fits) {
            throw ConfigError("--threshold is for two classes and for labels; these examples have " +
                              std::to_string(examples_.label_table().size()) + " " +
                              std::string(word_of(examples::target_choices, examples_.target())));
        }
    }

    SequenceReport run() {
        std::vector<ScoredSequences> scored;
        for (const ScoreFile& file : request_.scores) {
            scored.push_back(join_sequence_scores(examples_, file.path, request_.split, request_.rows));
            warn(scored.back(), file);
        }
        keep_common(scored);
        rows_ = scored.front().rows;
        set_units();
        set_profiles();
        SequenceReport report{.labels = examples_.label_table(),
                              .target = examples_.target(),
                              .rows = std::ssize(rows_),
                              .units = unit_count_};
        std::vector<FigureValues> whole;
        std::vector<std::unique_ptr<SequenceMeasure>> measures;
        for (const ScoredSequences& one : scored) {
            measures.push_back(measure(one));
            whole.push_back(measures.back()->figures(nullptr));
        }
        report.names = measures.front()->names();
        report.names_of_each = measures.front()->names_of_each();
        const std::vector<std::vector<FigureValues>> resampled = resample(measures);
        for (std::size_t f = 0; f < scored.size(); ++f) {
            SequenceFile& file = report.files.emplace_back();
            file.name = request_.scores[f].name;
            file.each = measures[f]->figures_of_each();
            file.confusion = measures[f]->confusion();
            file.picture = picture_of(scored[f]);
            for (std::size_t i = 0; i < report.names.size(); ++i) {
                FigureValues own, paired;
                for (const std::vector<FigureValues>& one : resampled) {
                    own.push_back(one[f][i]);
                    paired.push_back(minus(one[f][i], one[0][i]));
                }
                file.figures.push_back(figure_of(whole[f][i], own));
                if (f > 0) file.differences.push_back(figure_of(minus(whole[f][i], whole[0][i]), paired));
            }
        }
        report.about = about(report, scored);
        if (examples_.task() == examples::Task::chromatin) {
            std::vector<PredictedTracks> predicted;
            for (std::size_t f = 0; f < scored.size(); ++f)
                predicted.push_back({report.files[f].name, scored[f].scores});
            report.regions = coverage_regions(examples_, rows_, predicted);
        }
        return report;
    }

private:
    bool is_given() const { return request_.threshold.kind == ThresholdRule::Kind::given; }

    void warn(const ScoredSequences& scored, const ScoreFile& file) const {
        const std::string which = request_.scores.size() > 1 ? file.name + ": " : "";
        const std::int64_t all = scored.not_scored + scored.lacking + std::ssize(scored.rows);
        if (scored.lacking > 0) {
            log_info("{}evaluated on {} of the {} rows of split {} (--rows scored)", which,
                     scored.rows.size(), all, to_string(request_.split));
        }
        if (scored.not_scored > 0)
            log_warning("{}{} of {} rows are NA in the scores and left out", which, scored.not_scored, all);
        if (scored.other_rows > 0) {
            log_info("{}{} rows of the scores are not of split {} and not looked at", which,
                     scored.other_rows, to_string(request_.split));
        }
    }

    /// Bins are drawn by stretches of the genome.
    std::string group_of(std::int64_t row) const {
        if (examples_.task() == examples::Task::sequences) return examples_.group(row);
        const genome::Interval where = examples_.row(row).where;
        return where.contig + '\t' + std::to_string(where.begin / request_.options.block_size);
    }

    void set_units() {
        std::unordered_map<std::string, std::uint32_t> groups;
        std::uint32_t next = 0;
        for (const std::int64_t row : rows_) {
            const std::string group = group_of(row);
            if (group == ".") {
                units_.push_back(next++);
                continue;
            }
            grouped_ = true;
            const auto [at, is_new] = groups.emplace(group, next);
            next += is_new ? 1 : 0;
            units_.push_back(at->second);
        }
        unit_count_ = next;
    }

    /// Numbers windows of the genome whose profiles are compared.
    void set_profiles() {
        if (examples_.task() != examples::Task::chromatin ||
            examples_.row(rows_.front()).where.size() >= too_long_for_profiles)
            return;
        for (const std::int64_t row : rows_)
            profiles_.push_back(static_cast<std::uint32_t>(examples_.row(row).where.begin / profile_bases));
    }

    std::unique_ptr<SequenceMeasure> measure(const ScoredSequences& scored) const {
        const std::size_t width = examples_.label_table().size();
        const MeasuredRows rows{scored.scores, width, units_, profiles_};
        if (examples_.target() == examples::TargetKind::classes) {
            std::vector<std::uint32_t> truth;
            for (const std::int64_t row : rows_)
                truth.push_back(static_cast<std::uint32_t>(examples_.class_of(row)));
            return measure_classes(rows, truth,
                                   is_given() ? std::optional(request_.threshold.value) : std::nullopt);
        }
        if (examples_.target() == examples::TargetKind::labels) {
            std::vector<std::uint8_t> truth(rows_.size() * width);
            for (std::size_t i = 0; i < rows_.size(); ++i)
                examples_.copy_labels(rows_[i], std::span(truth).subspan(i * width, width));
            return measure_labels(rows, truth, request_.threshold.value);
        }
        return measure_numbers(rows, numbers(), examples_.task() == examples::Task::chromatin);
    }

    std::vector<float> numbers() const {
        std::vector<float> truth;
        for (const std::int64_t row : rows_) {
            const std::span<const float> own = examples_.numbers(row);
            truth.insert(truth.end(), own.begin(), own.end());
        }
        return truth;
    }

    SequencePicture picture_of(const ScoredSequences& scored) const {
        SequencePicture picture;
        const std::size_t width = examples_.label_table().size();
        const bool of_numbers = examples_.target() == examples::TargetKind::numbers;
        const std::vector<float> truth = of_numbers ? numbers() : std::vector<float>();
        for (std::size_t label = 0; label < width; ++label) {
            std::vector<float> scores;
            std::vector<std::uint8_t> is_label;
            std::vector<std::pair<float, float>> points;
            const std::size_t step = (rows_.size() + most_points - 1) / most_points;
            for (std::size_t i = 0; i < rows_.size(); ++i) {
                scores.push_back(scored.scores[i * width + label]);
                if (of_numbers && i % step == 0) points.emplace_back(scores.back(), truth[i * width + label]);
                if (!of_numbers) is_label.push_back(examples_.label(rows_[i], label));
            }
            if (of_numbers) picture.points.push_back(std::move(points));
            if (!of_numbers) picture.curves.push_back(curve_of(scores, is_label));
        }
        return picture;
    }

    /// [resample][file][figure]
    std::vector<std::vector<FigureValues>> resample(
        const std::vector<std::unique_ptr<SequenceMeasure>>& measures) const {
        std::vector<std::vector<FigureValues>> resampled;
        const std::int64_t count = unit_count_ > 1 ? request_.options.resamples : 0;
        const Rng stream = Rng(request_.options.seed).split("bootstrap");
        Progress progress("intervals", "resamples", count);
        const std::function<std::vector<FigureValues>(std::int64_t)> make = [&](std::int64_t index) {
            stop_if_asked();
            const std::vector<std::uint32_t> times =
                draw_blocks(stream, index, static_cast<std::size_t>(unit_count_));
            std::vector<FigureValues> of_files;
            of_files.reserve(measures.size());
            for (const auto& measure : measures)
                of_files.push_back(measure->figures(&times));
            return of_files;
        };
        ordered_pipeline<std::vector<FigureValues>>(count, request_.options.threads, make,
                                                    [&](std::vector<FigureValues>&& values) {
                                                        resampled.push_back(std::move(values));
                                                        progress.update(std::ssize(resampled));
                                                    });
        return resampled;
    }

    Json about(const SequenceReport& report, const std::vector<ScoredSequences>& scored) const {
        Json parameters{{"resamples", request_.options.resamples},
                        {"resampled", grouped_ ? "groups" : "rows"},
                        {"seed", request_.options.seed}};
        if (is_given() || examples_.target() == examples::TargetKind::labels)
            parameters["threshold"] = request_.threshold.value;
        Json made_by = Json::object();
        Json inputs{{"scores", examples::checksum_of_input(request_.scores.front().path)},
                    {"examples", examples::checksum_of_input(request_.examples / examples::manifest_name)}};
        for (std::size_t i = 0; i < scored.size(); ++i) {
            made_by[request_.scores[i].name] = provenance_json(scored[i].provenance);
            if (i > 0)
                inputs["scores:" + request_.scores[i].name] =
                    examples::checksum_of_input(request_.scores[i].path);
        }
        return {{"format", "bigbird-dna evaluation"},
                {"format_version", 1},
                {"made_by", "bigbird-dna " + std::string(version())},
                {"task", to_string(examples_.task())},
                {"target", word_of(examples::target_choices, examples_.target())},
                {"split", to_string(request_.split)},
                {"rows", report.rows},
                {"rows_not_scored", scored.front().not_scored},
                {"units", report.units},
                {"parameters", parameters},
                {"scores", made_by},
                {"inputs", inputs}};
    }

    const EvaluationRequest& request_;
    examples::ExampleSet examples_;
    std::vector<std::int64_t> rows_;
    std::vector<std::uint32_t> units_, profiles_;
    std::int64_t unit_count_ = 0;
    bool grouped_ = false;
};

}  // namespace

SequenceReport evaluate_sequences(const EvaluationRequest& request) {
    return Evaluating(request).run();
}

}  // namespace bigbird::evaluation
