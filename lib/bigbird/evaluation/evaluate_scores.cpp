// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/file_name.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/version.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/evaluation/evaluation_report.hpp"
#include "bigbird/examples/example_format.hpp"
#include "bigbird/examples/example_writer.hpp"

#include <algorithm>
#include <system_error>
#include <tuple>
#include <utility>

namespace bigbird::evaluation {
namespace fs = std::filesystem;

namespace {

/// By ThresholdRule::Kind.
constexpr const char* rule_words[] = {"best F1 on validation where scored", "given", "best F1 on validation",
                                      "best MCC on validation"};

/// The evaluations of one request.
class Evaluating {
public:
    explicit Evaluating(const EvaluationRequest& request)
        : request_(request), examples_(examples::ExampleSet::load(request.examples)) {
        request.options.validate();
        if (examples_.task() != request.task) throw other_task(request, examples_);
    }

    EvaluationReport run() {
        EvaluationReport report;
        report.labels = examples_.label_table();
        std::vector<ScoredExamples> scored;
        for (const ScoreFile& file : request_.scores) {
            scored.push_back(join_scores(examples_, file.path, request_.split, request_.options.block_size,
                                         request_.rows));
            warn(scored.back(), file);
        }
        const std::int64_t not_scored = scored.front().not_scored;
        const std::int64_t missing = scored.front().missing_columns;
        keep_common(examples_, scored, request_.options.block_size);
        Json thresholds = Json::array(), made_by = Json::object();
        for (std::size_t i = 0; i < scored.size(); ++i) {
            EvaluationOptions options = request_.options;
            std::string rule;
            if (request_.task == examples::Task::promoter)
                std::tie(options.threshold, rule) = threshold_of(request_.scores[i]);
            thresholds.push_back(options.threshold);
            made_by[request_.scores[i].name] = provenance_json(scored[i].provenance);
            report.files.push_back(
                {request_.scores[i].name, evaluate(examples_, scored[i], options), {}, rule});
            FileEvaluation& file = report.files[i];
            if (i > 0) file.difference = difference(file.evaluation, report.files[0].evaluation);
        }
        if (request_.published || report.labels.size() == rows::deepsea_labels().size())
            add_published(report);
        if (request_.scan) report.scan = evaluate_scan(*request_.scan, thresholds.front().get<double>());
        report.about = about(report, not_scored, missing, thresholds, made_by);
        return report;
    }

private:
    void warn(const ScoredExamples& scored, const ScoreFile& file) const {
        const std::string which = tell_rows(request_, scored, file);
        if (scored.missing_columns > 0) {
            log_warning("{}{} of {} labels have no column in the scores and are left out", which,
                        scored.missing_columns, examples_.label_table().size());
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

    /// The threshold, and how it was chosen.
    std::pair<double, std::string> threshold_of(const ScoreFile& file) const {
        using Kind = ThresholdRule::Kind;
        const ThresholdRule& rule = request_.threshold;
        const auto chosen = [&](Kind kind) {
            return std::pair(best_on(file, kind), rule_words[static_cast<std::size_t>(kind)]);
        };
        if (rule.kind == Kind::given) return {rule.value, "given"};
        const bool stream = file.path == "-", none = examples_.rows(examples::Split::validation).empty();
        if (rule.kind != Kind::automatic) {
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
            if (!stream && !none) return chosen(Kind::best_f1);
        } catch (const Error&) {  // not scored, or all of one kind
        }
        log_info("{}: threshold {}, since no rows of validation are scored on which to choose it", file.name,
                 rule.value);
        return {rule.value, "default: no rows of validation are scored"};
    }

    double best_on(const ScoreFile& file, ThresholdRule::Kind kind) const {
        const ScoredExamples scored = join_scores(examples_, file.path, examples::Split::validation,
                                                  request_.options.block_size, request_.rows);
        const auto best = best_threshold(scored.labels.front().scores, scored.labels.front().truths, kind);
        if (!best) {
            throw ConfigError(
                "--threshold: the rows of validation are all of one kind, so none can be chosen; give a "
                "score");
        }
        log_info("{}: threshold {:.4f}, with the best {} ({:.3f}) on {} rows of validation", file.name,
                 best->threshold, kind == ThresholdRule::Kind::best_f1 ? "F1" : "MCC", best->figure,
                 scored.rows.size());
        return best->threshold;
    }

    void add_published(EvaluationReport& report) const {
        std::size_t known = 0;
        for (const auto& match : rows::match_deepsea(report.labels)) {
            known += match ? 1U : 0U;
            report.published.push_back(match ? std::optional(rows::deepsea_published(*match)) : std::nullopt);
        }
        if (known == 0) return report.published.clear();
        log_info(
            "{} of {} labels are DeepSEA's; its figures are of all bins of chromosomes 8 and 9, with its own "
            "peaks",
            known, report.labels.size());
    }

    Json about(const EvaluationReport& report, std::int64_t not_scored, std::int64_t missing,
               const Json& thresholds, const Json& made_by) const {
        const EvaluationOptions& options = request_.options;
        Json parameters{{"min_positives", options.min_positives},
                        {"resamples", options.resamples},
                        {"block_size", options.block_size},
                        {"seed", options.seed}};
        if (request_.task == examples::Task::promoter) {
            parameters["threshold"] = thresholds.front();
            parameters["threshold_rule"] = rule_words[static_cast<std::size_t>(request_.threshold.kind)];
        }
        Json about = about_task(examples_);
        about["split"] = to_string(request_.split);
        if (negatives().is_string()) about["negatives"] = negatives();
        about.update(Json{{"rows", report.files.front().evaluation.rows},
                          {"rows_not_scored", not_scored},
                          {"labels_without_scores", missing},
                          {"blocks", report.files.front().evaluation.blocks},
                          {"parameters", parameters},
                          {"scores", made_by},
                          {"inputs", checksums_of(request_)}});
        return about;
    }

    const EvaluationRequest& request_;
    examples::ExampleSet examples_;
};

}  // namespace

Json provenance_json(const rows::Provenance& provenance) {
    Json json = Json::object();
    for (const auto& [key, value] : provenance)
        json[key] = json.contains(key) ? json[key].get<std::string>() + "," + value : value;
    return json;
}

InputError other_task(const EvaluationRequest& request, const examples::ExampleSet& examples) {
    const std::string task(to_string(examples.task()));
    return {"holds " + task + " examples; use evaluate-" + task, request.examples};
}

Json about_task(const examples::ExampleSet& examples) {
    return {{"format", "bigbird-dna evaluation"},
            {"format_version", 1},
            {"made_by", "bigbird-dna " + std::string(version())},
            {"task", to_string(examples.task())}};
}

Json checksums_of(const EvaluationRequest& request) {
    Json inputs{{"scores", examples::checksum_of_input(request.scores.front().path)},
                {"examples", examples::checksum_of_input(request.examples / examples::manifest_name)}};
    for (std::size_t i = 1; i < request.scores.size(); ++i)
        inputs["scores:" + request.scores[i].name] = examples::checksum_of_input(request.scores[i].path);
    return inputs;
}

std::string tell_rows(const EvaluationRequest& request, const JoinedScores& scored, const ScoreFile& file) {
    const std::string which = request.scores.size() > 1 ? file.name + ": " : "";
    const std::int64_t all = scored.not_scored + scored.lacking + std::ssize(scored.rows);
    if (request.rows == WantedRows::scored)
        log_info("{}evaluated on {} of the {} rows of split {} (--rows scored)", which, scored.rows.size(),
                 all, to_string(request.split));
    if (scored.not_scored > 0)
        log_warning("{}{} of {} rows are NA in the scores and left out", which, scored.not_scored, all);
    if (scored.other_rows > 0)
        log_info("{}not looked at: {} of the scores, of other splits than {}", which,
                 counted(scored.other_rows, "row"), to_string(request.split));
    return which;
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

EvaluationReport evaluate_scores(const EvaluationRequest& request) {
    return Evaluating(request).run();
}

}  // namespace bigbird::evaluation
