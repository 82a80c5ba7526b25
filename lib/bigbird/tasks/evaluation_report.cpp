// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tasks/evaluation_report.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/version.hpp"
#include "bigbird/genome/text_output.hpp"
#include "bigbird/tasks/example_format.hpp"
#include "bigbird/tasks/example_writer.hpp"
#include "bigbird/tasks/text_fields.hpp"

#include <limits>
#include <utility>

namespace bigbird::tasks {
namespace fs = std::filesystem;

namespace {

Json number(const std::optional<double>& value) {
    return value ? Json(*value) : Json();
}

void put(Json& object, const std::string& key, const Figure& figure) {
    object[key] = number(figure.value);
    object[key + "_interval"] = figure.low && figure.high ? Json{*figure.low, *figure.high} : Json();
}

std::string cell(const std::optional<double>& value) {
    std::string text;
    append_number(text, value.value_or(std::numeric_limits<double>::quiet_NaN()));
    return text;
}

std::string cells(const Figure& figure) {
    return cell(figure.value) + '\t' + cell(figure.low) + '\t' + cell(figure.high);
}

std::string brief(const Figure& figure) {
    if (!figure.value) {
        return "NA";
    }
    return figure.low ? fmt::format("{:.3f} [{:.3f}, {:.3f}]", *figure.value, *figure.low, *figure.high)
                      : fmt::format("{:.3f}", *figure.value);
}

using NamedFigures = std::vector<std::pair<std::string, const Figure*>>;

NamedFigures figures_of(const GroupFigures& group) {
    return {{"auroc_mean", &group.mean_roc_auc},
            {"auroc_median", &group.median_roc_auc},
            {"auprc_mean", &group.mean_average_precision},
            {"auprc_median", &group.median_average_precision}};
}

NamedFigures figures_of(const LabelFigures& label, const ThresholdFigures& at) {
    return {{"auroc", &label.roc_auc},
            {"auprc", &label.average_precision},
            {"f1", &at.f1},
            {"precision", &at.precision},
            {"recall", &at.recall},
            {"mcc", &at.mcc},
            {"accuracy", &at.accuracy}};
}

Json json_of(const LabelFigures& figures, const LabelTable& labels) {
    Json object{{"index", figures.label},
                {"group", labels[figures.label].group},
                {"name", labels[figures.label].name},
                {"positives", figures.positives},
                {"base_rate", figures.base_rate},
                {"summarised", figures.summarised}};
    put(object, "auroc", figures.roc_auc);
    put(object, "auprc", figures.average_precision);
    return object;
}

Json promoter_json(const Evaluation& evaluation) {
    const ThresholdFigures& at = *evaluation.at_threshold;
    const LabelFigures& label = evaluation.labels.front();
    Json object{{"positives", label.positives}, {"base_rate", label.base_rate}, {"threshold", at.threshold}};
    for (const auto& [name, figure] : figures_of(label, at)) {
        put(object, name, *figure);
    }
    object["true_positives"] = at.counts.true_positives;
    object["false_positives"] = at.counts.false_positives;
    object["true_negatives"] = at.counts.true_negatives;
    object["false_negatives"] = at.counts.false_negatives;
    return object;
}

}  // namespace

EvaluationReport evaluate_scores(const fs::path& scores, const fs::path& examples_folder, Task task,
                                 Split split, const EvaluationOptions& options) {
    options.validate();
    const ExampleSet examples = ExampleSet::load(examples_folder);
    if (examples.task() != task) {
        throw InputError("holds " + std::string(to_string(examples.task())) + " examples; use evaluate-" +
                             std::string(to_string(examples.task())),
                         examples_folder);
    }
    const ScoredExamples scored = join_scores(examples, scores, split, options.block_size);
    EvaluationReport report{evaluate(examples, scored, options), examples.label_table(), {}};
    Json parameters{{"min_positives", options.min_positives},
                    {"resamples", options.resamples},
                    {"block_size", options.block_size},
                    {"seed", options.seed}};
    if (task == Task::promoter) {
        parameters["threshold"] = options.threshold;
    }
    report.about = {{"format", "bigbird-dna evaluation"},
                    {"format_version", 1},
                    {"made_by", "bigbird-dna " + std::string(version())},
                    {"task", to_string(task)},
                    {"split", to_string(split)}};
    const Json& made = examples.manifest();
    if (made.contains("parameters") && made["parameters"].contains("negatives")) {
        report.about["negatives"] = made["parameters"]["negatives"];
    }
    report.about.update(Json{{"rows", report.evaluation.rows},
                             {"rows_not_scored", report.evaluation.not_scored},
                             {"labels_without_scores", scored.missing_columns},
                             {"blocks", report.evaluation.blocks},
                             {"parameters", parameters},
                             {"inputs",
                              {{"scores", checksum_of_input(scores)},
                               {"examples", checksum_of_input(examples_folder / manifest_name)}}}});
    if (scored.not_scored > 0) {
        log_warning("{} of {} rows are NA in the scores and left out", scored.not_scored,
                    scored.not_scored + report.evaluation.rows);
    }
    if (scored.missing_columns > 0) {
        log_warning("{} of {} labels have no column in the scores and are left out", scored.missing_columns,
                    examples.label_table().size());
    }
    if (scored.other_rows > 0) {
        log_info("{} rows of the scores are not of split {} and not looked at", scored.other_rows,
                 to_string(split));
    }
    return report;
}

Json to_json(const EvaluationReport& report) {
    Json json = report.about;
    const Evaluation& evaluation = report.evaluation;
    if (evaluation.at_threshold) {
        json["promoter"] = promoter_json(evaluation);
        return json;
    }
    json["groups"] = Json::array();
    for (const GroupFigures& group : evaluation.groups) {
        Json object{{"group", group.group}, {"labels", group.labels}, {"defined", group.defined}};
        for (const auto& [name, figure] : figures_of(group)) {
            put(object, name, *figure);
        }
        object["base_rate_mean"] = number(group.mean_base_rate);
        json["groups"].push_back(std::move(object));
    }
    json["labels"] = Json::array();
    for (const LabelFigures& label : evaluation.labels) {
        json["labels"].push_back(json_of(label, report.labels));
    }
    return json;
}

std::string to_tsv(const EvaluationReport& report) {
    std::string text;
    for (const auto& [key, value] : report.about.items()) {
        text += "##" + key + "=" + (value.is_string() ? value.get<std::string>() : value.dump()) + "\n";
    }
    const Evaluation& evaluation = report.evaluation;
    if (evaluation.at_threshold) {
        text += "figure\tvalue\tlow\thigh\n";
        for (const auto& [name, figure] : figures_of(evaluation.labels.front(), *evaluation.at_threshold)) {
            text += name + '\t' + cells(*figure) + '\n';
        }
        return text;
    }
    for (const GroupFigures& group : evaluation.groups) {
        text += "##group " + group.group + "\tlabels=" + std::to_string(group.labels) +
                "\tdefined=" + std::to_string(group.defined);
        for (const auto& [name, figure] : figures_of(group)) {
            text +=
                '\t' + name + "=" + cell(figure->value) + "," + cell(figure->low) + "," + cell(figure->high);
        }
        text += "\tbase_rate_mean=" + cell(group.mean_base_rate) + "\n";
    }
    text +=
        "index\tgroup\tname\tpositives\tbase_rate\tauroc\tauroc_low\tauroc_high\tauprc\tauprc_low\tauprc_"
        "high\n";
    for (const LabelFigures& label : evaluation.labels) {
        text += std::to_string(label.label) + '\t' + report.labels[label.label].group + '\t' +
                report.labels[label.label].name + '\t' + std::to_string(label.positives) + '\t' +
                cell(label.base_rate) + '\t' + cells(label.roc_auc) + '\t' + cells(label.average_precision) +
                '\n';
    }
    return text;
}

std::vector<std::string> to_lines(const EvaluationReport& report) {
    const Evaluation& evaluation = report.evaluation;
    std::vector<std::string> lines{fmt::format("{} rows of split {}, 95 % intervals from {} blocks of {} bp",
                                               evaluation.rows, report.about["split"].get<std::string>(),
                                               evaluation.blocks,
                                               report.about["parameters"]["block_size"].get<std::int64_t>())};
    if (evaluation.at_threshold) {
        const std::string kind = report.about.value("negatives", "unknown");
        lines.push_back(
            fmt::format("{} positives, negatives: {}", evaluation.labels.front().positives, kind));
        for (const auto& [name, figure] : figures_of(evaluation.labels.front(), *evaluation.at_threshold)) {
            lines.push_back(fmt::format("{:<10}{}", name, brief(*figure)));
        }
        return lines;
    }
    for (const GroupFigures& group : evaluation.groups) {
        lines.push_back(fmt::format(
            "{}: {} of {} labels; AUROC mean {}, median {}; AUPRC mean {}, median {}, base rate {}",
            group.group, group.defined, group.labels, brief(group.mean_roc_auc), brief(group.median_roc_auc),
            brief(group.mean_average_precision), brief(group.median_average_precision),
            brief({group.mean_base_rate, {}, {}})));
    }
    return lines;
}

void write_report(const EvaluationReport& report, const fs::path& output, Overwrite overwrite) {
    const std::string name = output.string();
    const bool tsv = name.ends_with(".tsv") || name.ends_with(".tsv.gz");
    genome::TextOutput out(output, overwrite);
    out.write(tsv ? to_tsv(report) : to_json(report).dump(2) + "\n");
    out.commit();
}

}  // namespace bigbird::tasks
