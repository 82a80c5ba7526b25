// SPDX-License-Identifier: Apache-2.0
#include "bigbird/evaluation/evaluation.hpp"

#include "bigbird/core/formats/checksum.hpp"
#include "bigbird/core/formats/file_name.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/core/progress.hpp"
#include "bigbird/core/statistics/bootstrap_interval.hpp"
#include "bigbird/core/version.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/examples/example_format.hpp"
#include "bigbird/examples/example_writer.hpp"

#include <algorithm>
#include <system_error>
#include <unordered_map>

namespace bigbird::evaluation {
namespace fs = std::filesystem;

namespace {

/// How often each unit is drawn in a resample.
std::vector<std::uint32_t> draw(const Rng& stream, std::size_t index, std::size_t units) {
    Rng rng = stream.split(index);
    std::vector<std::uint32_t> times(units, 0);
    for (std::size_t i = 0; i < units; ++i)
        ++times[static_cast<std::size_t>(rng.between(0, static_cast<std::int64_t>(units) - 1))];
    return times;
}

FigureValues flat(const Measure& measure, const std::vector<FigureValues>& each) {
    FigureValues values;
    for (const FigureValues& of : each)
        values.insert(values.end(), of.begin(), of.end());
    const FigureValues all = measure.all(each);
    values.insert(values.end(), all.begin(), all.end());
    return values;
}

FigureValues minus(FigureValues values, const FigureValues& others) {
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = values[i] && others[i] ? std::optional(*values[i] - *others[i]) : std::nullopt;
    return values;
}

Figure with_interval(const ResampledFigures& figures, std::size_t i) {
    Figure figure{figures.whole[i], {}, {}};
    std::vector<double> defined;
    for (const FigureValues& values : figures.resampled)
        if (values[i]) defined.push_back(*values[i]);
    if (!figure.value || defined.empty() || 2 * defined.size() < figures.resampled.size()) return figure;
    const ConfidenceInterval interval = bias_corrected_interval(*figure.value, defined);
    return {figure.value, interval.low, interval.high};
}

}  // namespace

void EvaluationOptions::validate() const {
    const auto require = [](bool fine, const char* what) {
        if (!fine) throw ConfigError(what);
    };
    require(min_positives >= 1, "--min-positives must be at least 1");
    require(resamples >= 0, "--resamples must not be negative");
    require(block_size >= 1, "--block-size must be at least 1");
}

ResampledFigures resample(const Measure& measure, std::size_t units, const EvaluationOptions& options,
                          const char* stream) {
    // Sorted columns and draws that are in memory at once.
    constexpr std::size_t columns_at_once = 32, counts_at_once = std::size_t{1} << 24;
    const Rng rng = Rng(options.seed).split(stream);
    const std::size_t resamples = units > 1 ? static_cast<std::size_t>(options.resamples) : 0;
    std::vector<std::vector<FigureValues>> values(resamples +
                                                  1);  // by column; of all rows, then of resamples
    for (auto& of_columns : values)
        of_columns.resize(measure.columns);
    const auto run = [&](std::size_t count, const std::function<void(std::size_t)>& body) {
        parallel_for(static_cast<std::int64_t>(count), options.threads, [&](std::int64_t i) {
            stop_if_asked();
            body(static_cast<std::size_t>(i));
        });
    };
    Progress progress("intervals", "resamples", static_cast<std::int64_t>(resamples));
    for (std::size_t first = 0; first < measure.columns; first += columns_at_once) {
        std::vector<Measure::Column> columns(std::min(columns_at_once, measure.columns - first));
        run(columns.size(), [&](std::size_t c) {
            columns[c] = measure.column(first + c);
            values[0][first + c] = columns[c]({});
        });
        for (std::size_t done = 0, count = 0; done < resamples; done += count) {
            count = std::min(resamples - done, std::max<std::size_t>(1, counts_at_once / units));
            std::vector<std::vector<std::uint32_t>> times(count);
            run(count, [&](std::size_t i) { times[i] = draw(rng, done + i, units); });
            run(count * columns.size(), [&](std::size_t i) {
                const std::size_t column = i / count, index = i % count;
                values[1 + done + index][first + column] = columns[column](times[index]);
            });
            const auto share = static_cast<double>(first * resamples + (done + count) * columns.size()) /
                               static_cast<double>(measure.columns * resamples);
            progress.update(static_cast<std::int64_t>(share * static_cast<double>(resamples)));
        }
    }
    ResampledFigures figures{.columns = measure.columns, .width = values[0].front().size()};
    figures.whole = flat(measure, values[0]);
    for (std::size_t i = 1; i <= resamples; ++i)
        figures.resampled.push_back(flat(measure, std::exchange(values[i], {})));
    return figures;
}

Figures with_intervals(const ResampledFigures& figures) {
    Figures result;
    std::size_t next = 0;
    for (std::size_t column = 0; column < figures.columns; ++column) {
        std::vector<Figure>& of = result.each.emplace_back();
        for (std::size_t i = 0; i < figures.width; ++i)
            of.push_back(with_interval(figures, next++));
    }
    while (next < figures.whole.size())
        result.all.push_back(with_interval(figures, next++));
    return result;
}

Figures differences(const ResampledFigures& of, const ResampledFigures& from) {
    ResampledFigures result{of.columns, of.width, minus(of.whole, from.whole), {}};
    for (std::size_t r = 0; r < of.resampled.size(); ++r)
        result.resampled.push_back(minus(of.resampled[r], from.resampled[r]));
    return with_intervals(result);
}

Json provenance_json(const rows::Provenance& provenance) {
    Json json = Json::object();
    for (const auto& [key, value] : provenance)
        json[key] = json.contains(key) ? json[key].get<std::string>() + "," + value : value;
    return json;
}

std::vector<ScoreFile> parse_score_files(const std::vector<std::string>& texts) {
    std::vector<ScoreFile> files;
    for (const std::string& text : texts) {
        const std::size_t equals = text.find('=');
        ScoreFile file;
        std::error_code ignored;
        // A path may contain "=".
        if (equals != std::string::npos && equals > 0 && text.find('/') > equals &&
            !fs::exists(text, ignored))
            file = {text.substr(0, equals), text.substr(equals + 1)};
        else
            file = {name_of_content(fs::path(text).filename().string()), text};
        if (const auto other = std::ranges::find(files, file.name, &ScoreFile::name); other != files.end()) {
            throw ConfigError("--scores: " + other->path.string() + " and " + file.path.string() +
                              " are both called '" + file.name + "'; name them, NAME=FILE");
        }
        files.push_back(std::move(file));
    }
    return files;
}

namespace {

using examples::ExampleSet, examples::Split, examples::TargetKind, examples::Task;

/// By ThresholdRule::Kind.
constexpr const char* rule_words[] = {"best F1 on validation where scored", "given", "best F1 on validation",
                                      "best MCC on validation"};
constexpr std::size_t most_points = 2000;
/// Bins this long or longer have no profiles; the bases of a profile (BPNet's).
constexpr std::int64_t too_long_for_profiles = 16, profile_bases = 1000;

template <typename Value>
std::vector<std::span<const Value>> spans_of(const std::vector<std::vector<Value>>& columns) {
    return {columns.begin(), columns.end()};
}

Kind kind_of(const ExampleSet& examples) {
    if (examples.traits().has_records) return Kind::sequences;
    if (examples.traits().about_tss) return Kind::promoters;
    return examples.target() == TargetKind::numbers ? Kind::coverage : Kind::peaks;
}

const char* noun_of(Kind kind, TargetKind target) {
    if (target == TargetKind::numbers) return kind == Kind::coverage ? "track" : "number";
    return target == TargetKind::classes ? "class" : "label";
}

/// The evaluations of one request.
class Evaluating {
public:
    explicit Evaluating(const EvaluationRequest& request)
        : request_(request),
          examples_(ExampleSet::load(request.examples)),
          kind_(kind_of(examples_)),
          target_(examples_.target()) {
        request.options.validate();
        report_.noun = noun_of(kind_, target_);
        const Task task = examples_.task();
        if (task != request.task && (traits_of(request.task).about_tss || target_ != TargetKind::numbers)) {
            throw InputError("holds " + std::string(to_string(task)) + " examples; use evaluate-" +
                                 std::string(to_string(task)),
                             request.examples);
        }
        const std::size_t columns = examples_.label_table().size();
        const bool fits = kind_ == Kind::promoters || target_ == TargetKind::labels ||
                          (target_ == TargetKind::classes && columns == 2);
        if (is_given() && !fits) {
            throw ConfigError("--threshold is for two classes and for labels; these examples have " +
                              (target_ == TargetKind::numbers ? "numbers" : counted(columns, "class")));
        }
    }

    EvaluationReport run() {
        std::vector<ScoredRows> scored;
        for (const ScoreFile& file : request_.scores) {
            scored.push_back(join_scores(examples_, file.path, request_.split, request_.rows));
            require_same_rows(scored.back().provenance, file);
            warn(scored.back(), file);
        }
        const std::int64_t not_scored = scored.front().not_scored;
        const std::size_t missing = examples_.label_table().size() - scored.front().labels.size();
        keep_common(scored, report_.noun);
        rows_ = scored.front().rows;
        set_units();
        set_truth(scored.front().labels);
        const std::size_t units = kind_ == Kind::sequences ? static_cast<std::size_t>(report_.units)
                                                           : units_of_blocks(report_.units);
        std::vector<ResampledFigures> figures;
        for (std::size_t f = 0; f < scored.size(); ++f) {
            FileEvaluation& file = report_.files.emplace_back(FileEvaluation{request_.scores[f].name});
            file.threshold = request_.threshold.value;
            if (kind_ == Kind::promoters)
                std::tie(file.threshold, file.threshold_rule) = threshold_of(request_.scores[f]);
            const MeasuredRows rows{spans_of(scored[f].scores), units_, profiles_};
            const Measure measure = measure_of(rows, file.threshold);
            report_.names = measure.names;
            report_.names_of_each = measure.names_of_each;
            figures.push_back(resample(measure, units, request_.options));
            file.figures = with_intervals(figures[f]);
            if (f > 0) file.difference = differences(figures[f], figures[0]);
            add_pictures(file, rows);
        }
        if (kind_ == Kind::peaks &&
            (request_.published || report_.labels.size() == rows::deepsea_labels().size()))
            add_published();
        if (request_.scan) report_.scan = evaluate_scan(*request_.scan, report_.files.front().threshold);
        report_.about = about(scored, not_scored, missing);
        if (kind_ == Kind::coverage) report_.regions = coverage_regions(examples_, request_.scores, scored);
        return std::move(report_);
    }

private:
    bool is_given() const { return request_.threshold.kind == ThresholdRule::Kind::given; }
    bool of_places() const { return kind_ == Kind::promoters || kind_ == Kind::peaks; }

    /// Refuses scores that predict made of another split or of other examples, whose ids may be the same
    /// numbers. Bins and promoters are identified by their positions.
    void require_same_rows(const rows::Provenance& made_by, const ScoreFile& file) const {
        if (kind_ != Kind::sequences) return;
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

    void warn(const ScoredRows& scored, const ScoreFile& file) const {
        const std::string which = request_.scores.size() > 1 ? file.name + ": " : "";
        const std::size_t labels = examples_.label_table().size();
        const std::int64_t all = scored.not_scored + scored.lacking + std::ssize(scored.rows);
        if (request_.rows == WantedRows::scored) {
            log_info("{}evaluated on {} of the {} rows of split {} (--rows scored)", which,
                     scored.rows.size(), all, to_string(request_.split));
        }
        if (scored.not_scored > 0)
            log_warning("{}{} of {} rows are NA in the scores and left out", which, scored.not_scored, all);
        if (scored.labels.size() < labels) {
            log_warning("{}{} of {} labels have no column in the scores and are left out", which,
                        labels - scored.labels.size(), labels);
        }
        if (scored.other_rows > 0) {
            log_info("{}not looked at: {} of the scores, of other splits than {}", which,
                     counted(scored.other_rows, "row"), to_string(request_.split));
        }
        const std::string learnt = rows::value_of(scored.provenance, "negatives");
        const Json made = negatives();
        if (made.is_string() && !learnt.empty() && learnt != made.get<std::string>()) {
            log_warning("{}the model learnt from {} negatives, the examples have {} ones", which, learnt,
                        made.get<std::string>());
        }
    }

    /// The kind of a promoter task's negatives; for chromatin, the ratio of bins without a label.
    Json negatives() const {
        const Json parameters = examples_.manifest().value("parameters", Json());
        return parameters.is_object() ? parameters.value("negatives", Json()) : Json();
    }

    void set_units() {
        GenomeBlocks blocks(request_.options.block_size);
        std::unordered_map<std::string, std::uint32_t> groups;
        for (const std::int64_t row : rows_) {
            const auto next = static_cast<std::uint32_t>(report_.units);
            const bool records = kind_ == Kind::sequences;
            const std::string group = records ? examples_.group(row) : ".";
            units_.push_back(!records       ? blocks.of(examples_.row(row).where)
                             : group == "." ? next
                                            : groups.emplace(group, next).first->second);
            report_.units = std::max<std::int64_t>(report_.units, units_.back() + 1);
        }
        resampled_ = kind_ != Kind::sequences ? "blocks of genome" : groups.empty() ? "rows" : "groups";
        if (kind_ != Kind::coverage || examples_.row(rows_.front()).where.size() >= too_long_for_profiles)
            return;
        for (const std::int64_t row : rows_)  // numbers windows of the genome whose profiles are compared
            profiles_.push_back(static_cast<std::uint32_t>(examples_.row(row).where.begin / profile_bases));
    }

    /// The truth by column, and what the report says of columns and groups.
    void set_truth(const std::vector<std::size_t>& labels) {
        report_.kind = kind_;
        report_.target = target_;
        report_.labels = examples_.label_table();
        report_.rows = std::ssize(rows_);
        for (const std::size_t label : labels) {
            EvaluatedColumn& column = report_.columns.emplace_back(EvaluatedColumn{label});
            if (target_ == TargetKind::numbers) {
                std::vector<float>& truth = numbers_.emplace_back();
                for (const std::int64_t row : rows_)
                    truth.push_back(examples_.numbers(row)[label]);
                continue;
            }
            std::vector<std::uint8_t>& truth = truth_.emplace_back();
            for (const std::int64_t row : rows_)
                truth.push_back(examples_.label(row, label));
            column.positives = std::ranges::count(truth, 1);
            column.base_rate = static_cast<double>(column.positives) / static_cast<double>(report_.rows);
            column.summarised =
                column.positives >= std::max<std::int64_t>(1, request_.options.min_positives) &&
                column.positives < report_.rows;
        }
        if (target_ == TargetKind::classes)
            for (const std::int64_t row : rows_)
                classes_.push_back(static_cast<std::uint32_t>(examples_.class_of(row)));
        if (kind_ != Kind::peaks) return;
        if (report_.labels.groups().size() > 1) add_group("all", true);
        for (const std::string& name : report_.labels.groups())
            add_group(name, false);
    }

    /// Adds a group, or all labels, unless it has no labels.
    void add_group(const std::string& name, bool all) {
        Group group{name};
        FigureValues rates;
        for (std::size_t i = 0; i < report_.columns.size(); ++i) {
            const EvaluatedColumn& column = report_.columns[i];
            if (!all && report_.labels[column.label].group != name) continue;
            ++group.labels;
            if (!column.summarised) continue;
            group.members.push_back(i);
            rates.emplace_back(column.base_rate);
        }
        group.mean_base_rate = summarise(rates).mean;
        if (group.labels > 0) report_.groups.push_back(std::move(group));
    }

    Measure measure_of(const MeasuredRows& rows, double threshold) const {
        if (target_ == TargetKind::numbers)
            return measure_numbers(rows, spans_of(numbers_), kind_ == Kind::coverage);
        if (target_ == TargetKind::classes)
            return measure_classes(rows, classes_, is_given() ? std::optional(threshold) : std::nullopt);
        Measure measure = measure_labels(rows, spans_of(truth_),
                                         kind_ == Kind::peaks ? std::nullopt : std::optional(threshold));
        if (kind_ == Kind::promoters) {
            measure.names = {"auroc", "auprc", "f1", "precision", "recall", "mcc", "accuracy"};
            measure.all = [](const std::vector<FigureValues>& each) {
                const FigureValues& of = each.front();
                return FigureValues{of[5], of[6], of[3], of[1], of[2], of[4], of[7]};
            };
        }
        if (kind_ == Kind::peaks) {
            measure.names = {"auroc_mean", "auroc_median", "auprc_mean", "auprc_median"};
            measure.all = [this](const std::vector<FigureValues>& each) {
                FigureValues figures, values;
                for (const Group& group : report_.groups) {
                    for (const std::size_t figure : {0U, 1U}) {
                        values.clear();
                        for (const std::size_t member : group.members)
                            values.push_back(each[member][figure]);
                        const Summary summary = summarise(values);
                        figures.insert(figures.end(), {summary.mean, summary.median});
                    }
                }
                return figures;
            };
        }
        return measure;
    }

    void add_pictures(FileEvaluation& file, const MeasuredRows& rows) const {
        ReliabilityCounter counter;
        const std::size_t step = (rows_.size() + most_points - 1) / most_points;
        for (std::size_t c = 0; c < rows.scores.size(); ++c) {
            if (target_ == TargetKind::numbers) {
                auto& points = file.points.emplace_back();
                for (std::size_t i = 0; i < rows_.size(); i += step)
                    points.emplace_back(rows.scores[c][i], numbers_[c][i]);
                continue;
            }
            const bool counts = report_.columns[c].summarised;
            file.curves.push_back(counts ? curve_of(rows.scores[c], truth_[c]) : std::vector<CurvePoint>());
            if (counts && of_places()) counter.add(rows.scores[c], truth_[c]);
        }
        file.reliability = counter.reliability();
        const auto count = [&](std::size_t width, const auto& truth, const auto& called) {
            file.confusion.assign(width, std::vector<std::int64_t>(width));
            for (std::size_t i = 0; i < rows_.size(); ++i)
                ++file.confusion[truth[i]][called(i)];
        };
        if (kind_ == Kind::promoters) {
            count(
                2, truth_.front(),
                [&](std::size_t i) {
                    return static_cast<double>(rows.scores.front()[i]) >= file.threshold ? 1U : 0U;
                });
        }
        if (target_ == TargetKind::classes) {
            const auto called =
                called_classes(rows, is_given() ? std::optional(file.threshold) : std::nullopt);
            count(rows.scores.size(), classes_, [&](std::size_t i) { return called[i]; });
        }
    }

    /// A promoter's threshold, and how it was chosen.
    std::pair<double, std::string> threshold_of(const ScoreFile& file) const {
        using Rule = ThresholdRule::Kind;
        const ThresholdRule& rule = request_.threshold;
        const auto chosen = [&](Rule kind) {
            return std::pair(best_on(file, kind), rule_words[static_cast<std::size_t>(kind)]);
        };
        if (rule.kind == Rule::given) return {rule.value, "given"};
        const bool stream = file.path == "-", none = examples_.rows(Split::validation).empty();
        if (rule.kind != Rule::automatic) {
            if (stream) {
                throw ConfigError(
                    "--threshold f1 and mcc read the scores twice, which standard input cannot be; write "
                    "them to a file");
            }
            if (none) {
                throw ConfigError(
                    "--threshold f1 and mcc choose it on rows of validation, of which the examples have "
                    "none; give a score, or build them with --validation");
            }
            return chosen(rule.kind);
        }
        try {
            if (!stream && !none) return chosen(Rule::best_f1);
        } catch (const Error&) {  // not scored, or all of one kind
        }
        log_info("{}: threshold {}, since no rows of validation are scored on which to choose it", file.name,
                 rule.value);
        return {rule.value, "default: no rows of validation are scored"};
    }

    double best_on(const ScoreFile& file, ThresholdRule::Kind rule) const {
        const ScoredRows scored = join_scores(examples_, file.path, Split::validation, request_.rows);
        std::vector<std::uint8_t> truth;
        for (const std::int64_t row : scored.rows)
            truth.push_back(examples_.label(row, 0));
        const auto best = best_threshold(scored.scores.front(), truth, rule);
        if (!best) {
            throw ConfigError(
                "--threshold: the rows of validation are all of one kind, so none can be chosen; give a "
                "score");
        }
        log_info("{}: threshold {:.4f}, with the best {} ({:.3f}) on {} rows of validation", file.name,
                 best->threshold, rule == ThresholdRule::Kind::best_f1 ? "F1" : "MCC", best->figure,
                 scored.rows.size());
        return best->threshold;
    }

    void add_published() {
        std::size_t known = 0;
        for (const auto& match : rows::match_deepsea(report_.labels)) {
            known += match ? 1U : 0U;
            report_.published.push_back(match ? std::optional(rows::deepsea_published(*match))
                                              : std::nullopt);
        }
        if (known == 0) return report_.published.clear();
        log_info(
            "{} of {} labels are DeepSEA's; its figures are of all bins of chromosomes 8 and 9, with its own "
            "peaks",
            known, report_.labels.size());
    }

    Json parameters() const {
        const EvaluationOptions& options = request_.options;
        if (of_places()) {
            Json parameters{{"min_positives", options.min_positives},
                            {"resamples", options.resamples},
                            {"block_size", options.block_size},
                            {"seed", options.seed}};
            if (kind_ == Kind::peaks) return parameters;
            parameters["threshold"] = report_.files.front().threshold;
            parameters["threshold_rule"] = rule_words[static_cast<std::size_t>(request_.threshold.kind)];
            return parameters;
        }
        Json parameters{{"resamples", options.resamples}, {"resampled", resampled_}, {"seed", options.seed}};
        if (kind_ == Kind::coverage) parameters["block_size"] = options.block_size;
        if (is_given() || target_ == TargetKind::labels) parameters["threshold"] = request_.threshold.value;
        return parameters;
    }

    Json about(const std::vector<ScoredRows>& scored, std::int64_t not_scored, std::size_t missing) const {
        Json made_by = Json::object(),
             inputs{{"scores", examples::checksum_of_input(request_.scores.front().path)},
                    {"examples", examples::checksum_of_input(request_.examples / examples::manifest_name)}};
        for (std::size_t i = 0; i < scored.size(); ++i) {
            const ScoreFile& file = request_.scores[i];
            made_by[file.name] = provenance_json(scored[i].provenance);
            if (i > 0) inputs["scores:" + file.name] = examples::checksum_of_input(file.path);
        }
        Json about{{"format", "bigbird-dna evaluation"},
                   {"format_version", 1},
                   {"made_by", "bigbird-dna " + std::string(version())},
                   {"task", to_string(examples_.task())}};
        if (!of_places()) about["target"] = word_of(examples::target_choices, target_);
        about["split"] = to_string(request_.split);
        if (negatives().is_string()) about["negatives"] = negatives();
        about["rows"] = report_.rows;
        about["rows_not_scored"] = not_scored;
        if (of_places()) about["labels_without_scores"] = missing;
        about[of_places() ? "blocks" : "units"] = report_.units;
        about.update(Json{{"parameters", parameters()}, {"scores", made_by}, {"inputs", inputs}});
        return about;
    }

    const EvaluationRequest& request_;
    const ExampleSet examples_;
    const Kind kind_;
    const TargetKind target_;
    std::vector<std::int64_t> rows_;
    std::vector<std::uint32_t> units_, profiles_, classes_;  ///< of the rows
    std::vector<std::vector<std::uint8_t>> truth_;           ///< by column; labels, and classes as labels
    std::vector<std::vector<float>> numbers_;                ///< by column
    std::string resampled_;
    EvaluationReport report_;
};

}  // namespace

EvaluationReport evaluate(const EvaluationRequest& request) {
    return Evaluating(request).run();
}

}  // namespace bigbird::evaluation
