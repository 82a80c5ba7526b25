// SPDX-License-Identifier: Apache-2.0
#include "bigbird/evaluation/sequences/sequence_evaluation.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/checksum.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/core/progress.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/evaluation/plot.hpp"
#include "bigbird/examples/example_format.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <unordered_map>

namespace bigbird::evaluation {

namespace {

constexpr std::int64_t bins_of_region = 512;
constexpr std::size_t most_regions = 3, most_tracks = 4;

/// Neighbouring rows, and the share of each track's signal that they have.
struct Region {
    genome::Interval where{};
    std::size_t begin = 0, end = 0;  ///< into the rows
    std::vector<double> shares{};

    double signal() const { return std::accumulate(shares.begin(), shares.end(), 0.0); }
};

std::vector<double> totals_of(const examples::ExampleSet& examples, std::span<const std::int64_t> rows) {
    std::vector<double> totals(examples.label_table().size());
    for (const std::int64_t row : rows)
        for (std::size_t track = 0; track < totals.size(); ++track)
            totals[track] += static_cast<double>(examples.numbers(row)[track]);
    return totals;
}

std::vector<Region> regions_of(const examples::ExampleSet& examples, std::span<const std::int64_t> rows) {
    const std::vector<double> totals = totals_of(examples, rows);
    std::vector<Region> regions;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const genome::Interval where = examples.row(rows[i]).where;
        const std::int64_t length = bins_of_region * where.size();
        if (regions.empty() || regions.back().where.contig != where.contig ||
            regions.back().where.begin / length != where.begin / length)
            regions.push_back({where, i, i, std::vector<double>(totals.size())});
        Region& region = regions.back();
        region.where.end = where.end;
        region.end = i + 1;
        for (std::size_t track = 0; track < totals.size(); ++track)
            if (totals[track] > 0)
                region.shares[track] += static_cast<double>(examples.numbers(rows[i])[track]) / totals[track];
    }
    std::ranges::stable_sort(regions, std::greater{}, &Region::signal);
    std::erase_if(regions, [](const Region& region) { return region.signal() == 0; });
    if (regions.size() > most_regions) regions.resize(most_regions);
    return regions;
}

std::vector<std::size_t> tracks_of(const Region& region) {
    std::vector<std::size_t> tracks(region.shares.size());
    std::iota(tracks.begin(), tracks.end(), std::size_t{0});
    std::ranges::stable_sort(tracks, std::greater{}, [&](std::size_t track) { return region.shares[track]; });
    if (tracks.size() > most_tracks) tracks.resize(most_tracks);
    return tracks;
}

std::string picture_of(const Region& region, const examples::ExampleSet& examples,
                       const std::vector<ScoreFile>& files, const std::vector<ScoredSequences>& scored) {
    const std::vector<std::int64_t>& rows = scored.front().rows;
    const std::int64_t bin = examples.row(rows[region.begin]).where.size();
    const std::size_t width = examples.label_table().size();
    const auto values = [&](const std::function<float(std::size_t)>& value) {
        std::vector<float> by_bin(static_cast<std::size_t>((region.where.size() + bin - 1) / bin), NAN);
        for (std::size_t i = region.begin; i < region.end; ++i)
            by_bin[static_cast<std::size_t>((examples.row(rows[i]).where.begin - region.where.begin) / bin)] =
                value(i);
        return by_bin;
    };
    RegionPicture picture(region.where);
    for (const std::size_t track : tracks_of(region)) {
        const std::string& name = examples.label_table()[track].name;
        std::vector<std::vector<float>> drawn{
            values([&](std::size_t i) { return examples.numbers(rows[i])[track]; })};
        for (const ScoredSequences& one : scored)
            drawn.push_back(values([&](std::size_t i) { return one.scores[i * width + track]; }));
        float most = 0;
        for (const std::vector<float>& one : drawn)
            for (const float value : one)
                most = std::isfinite(value) ? std::max(most, value) : most;
        for (std::size_t d = 0; d < drawn.size(); ++d) {
            picture.track(name + ", " + (d == 0 ? "measured" : files[d - 1].name), drawn[d], bin, {},
                          d == 0 ? "#555" : colour_of(d - 1), static_cast<double>(most));
        }
    }
    return picture.html(
        fmt::format("{}:{}-{}", region.where.contig, region.where.begin + 1, region.where.end));
}

/// A page section: measured above predicted coverage of at most three regions of the rows, which all files
/// have. Chosen are the stretches of 512 bins with the most signal, and in each the four tracks with the
/// most, without looking at predictions. Empty if there is no signal.
std::string coverage_regions(const examples::ExampleSet& examples, const std::vector<ScoreFile>& files,
                             const std::vector<ScoredSequences>& scored) {
    const std::vector<Region> regions = regions_of(examples, scored.front().rows);
    if (regions.empty()) return "";
    std::string html = fmt::format(
        "<h2>Held-out regions</h2><p>Measured coverage (grey) above predicted, on one scale, of the {} "
        "tracks with the "
        "most signal in each region. Shown are the stretches of {} bins with the most signal, chosen without "
        "looking "
        "at predictions.</p>\n",
        std::min(most_tracks, examples.label_table().size()), bins_of_region);
    for (const Region& region : regions)
        html += picture_of(region, examples, files, scored);
    return html;
}

constexpr std::size_t most_points = 2000;
/// Bins this long or longer have no profiles; the bases of a profile (BPNet's).
constexpr std::int64_t too_long_for_profiles = 16, profile_bases = 1000;

class Evaluating {
public:
    explicit Evaluating(const EvaluationRequest& request)
        : request_(request), examples_(examples::ExampleSet::load(request.examples)) {
        request.options.validate();
        if (examples_.task() != examples::Task::sequences &&
            examples_.target() != examples::TargetKind::numbers)
            throw other_task(request, examples_);
        const bool fits =
            examples_.target() == examples::TargetKind::labels ||
            (examples_.target() == examples::TargetKind::classes && examples_.label_table().size() == 2);
        if (is_given() && !fits) {
            throw ConfigError("--threshold is for two classes and for labels; these examples have " +
                              (examples_.target() == examples::TargetKind::numbers
                                   ? "numbers"
                                   : counted(examples_.label_table().size(), "class")));
        }
    }

    SequenceReport run() {
        std::vector<ScoredSequences> scored;
        for (const ScoreFile& file : request_.scores) {
            scored.push_back(join_sequence_scores(examples_, file.path, request_.split, request_.rows));
            require_same_rows(scored.back().provenance, file);
            tell_rows(request_, scored.back(), file);
        }
        keep_common(scored);
        rows_ = scored.front().rows;
        set_units();
        set_profiles();
        SequenceReport report{.labels = examples_.label_table(),
                              .target = examples_.target(),
                              .rows = std::ssize(rows_),
                              .units = unit_count_};
        std::vector<std::unique_ptr<SequenceMeasure>> measures;
        for (const ScoredSequences& one : scored)
            measures.push_back(measure(one));
        report.names = measures.front()->names;
        report.names_of_each = measures.front()->names_of_each;
        const std::vector<ResampledFigures> figures = resample(measures);
        for (std::size_t f = 0; f < scored.size(); ++f) {
            SequenceFile& file = report.files.emplace_back();
            file.name = request_.scores[f].name;
            file.figures = with_intervals(figures[f]);
            if (f > 0) file.differences = differences(figures[f], figures[0]);
            file.each = measures[f]->figures_of_each();
            file.confusion = measures[f]->confusion();
            file.picture = picture_of(scored[f]);
        }
        report.about = about(report, scored);
        if (examples_.task() == examples::Task::chromatin)
            report.regions = coverage_regions(examples_, request_.scores, scored);
        return report;
    }

private:
    bool is_given() const { return request_.threshold.kind == ThresholdRule::Kind::given; }

    /// Refuses scores that predict made of another split or of other examples, whose ids may be the same
    /// numbers. Bins are identified by their positions.
    void require_same_rows(const rows::Provenance& made_by, const ScoreFile& file) const {
        if (examples_.task() != examples::Task::sequences) return;
        const std::string split = rows::value_of(made_by, "split"), own(to_string(request_.split)),
                          checksum = rows::value_of(made_by, "examples_sha256");
        if (!split.empty() && split != "all" && split != own) {
            throw InputError("has scores of split " + split + ", and split " + own +
                                 " is evaluated: score it with predict --split " + own +
                                 ", or evaluate with --split " + split,
                             file.path);
        }
        if (!checksum.empty() && checksum != sha256_of_file(request_.examples / examples::manifest_name)) {
            throw InputError("has scores of other examples than " + request_.examples.string() +
                                 ": score these with predict --examples (where only their manifest.json "
                                 "differs, take the line ##examples_sha256 out of the table)",
                             file.path);
        }
    }

    /// Bins are drawn by stretches of the genome.
    void set_units() {
        GenomeBlocks blocks(request_.options.block_size);
        std::unordered_map<std::string, std::uint32_t> groups;
        for (const std::int64_t row : rows_) {
            const bool bins = examples_.task() != examples::Task::sequences;
            const std::string group = bins ? "" : examples_.group(row);
            const auto next = static_cast<std::uint32_t>(unit_count_);
            units_.push_back(bins           ? blocks.of(examples_.row(row).where)
                             : group == "." ? next
                                            : groups.emplace(group, next).first->second);
            grouped_ = grouped_ || (!bins && group != ".");
            unit_count_ = std::max<std::int64_t>(unit_count_, units_.back() + 1);
        }
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

    /// The figures of each file.
    std::vector<ResampledFigures> resample(
        const std::vector<std::unique_ptr<SequenceMeasure>>& measures) const {
        std::vector<ResampledFigures> figures;
        for (const auto& measure : measures)
            figures.push_back({measure->figures({}), {}});
        const std::int64_t count = unit_count_ > 1 ? request_.options.resamples : 0;
        const Rng stream = Rng(request_.options.seed).split("bootstrap");
        Progress progress("intervals", "resamples", count);
        const std::function<std::vector<FigureValues>(std::int64_t)> make = [&](std::int64_t index) {
            stop_if_asked();
            const std::vector<std::uint32_t> times =
                draw_blocks(stream, index, static_cast<std::size_t>(unit_count_));
            std::vector<FigureValues> of_files;
            for (const auto& measure : measures)
                of_files.push_back(measure->figures(times));
            return of_files;
        };
        const std::function<void(std::vector<FigureValues> &&)> keep =
            [&](std::vector<FigureValues>&& values) {
                for (std::size_t f = 0; f < values.size(); ++f)
                    figures[f].resampled.push_back(std::move(values[f]));
                progress.update(std::ssize(figures.front().resampled));
            };
        ordered_pipeline<std::vector<FigureValues>>(count, request_.options.threads, make, keep);
        return figures;
    }

    Json about(const SequenceReport& report, const std::vector<ScoredSequences>& scored) const {
        const bool bins = examples_.task() != examples::Task::sequences;
        Json parameters{{"resamples", request_.options.resamples},
                        {"resampled", bins       ? "blocks of genome"
                                      : grouped_ ? "groups"
                                                 : "rows"},
                        {"seed", request_.options.seed}};
        if (bins) parameters["block_size"] = request_.options.block_size;
        if (is_given() || examples_.target() == examples::TargetKind::labels)
            parameters["threshold"] = request_.threshold.value;
        Json made_by = Json::object();
        for (std::size_t i = 0; i < scored.size(); ++i)
            made_by[request_.scores[i].name] = provenance_json(scored[i].provenance);
        Json about = about_task(examples_);
        about.update(Json{{"target", word_of(examples::target_choices, examples_.target())},
                          {"split", to_string(request_.split)},
                          {"rows", report.rows},
                          {"rows_not_scored", scored.front().not_scored},
                          {"units", report.units},
                          {"parameters", parameters},
                          {"scores", made_by},
                          {"inputs", checksums_of(request_)}});
        return about;
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
