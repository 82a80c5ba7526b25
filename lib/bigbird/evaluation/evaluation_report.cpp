// SPDX-License-Identifier: Apache-2.0
#include "bigbird/evaluation/evaluation_report.hpp"

#include "bigbird/core/log.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/evaluation/plot.hpp"
#include "bigbird/rows/text_fields.hpp"

#include <limits>

namespace bigbird::evaluation {

namespace {

std::string text_of(const Json& value) {
    return value.is_string() ? value.get<std::string>() : value.dump();
}

/// brier, calibration_error and the curve; null if scores are not probabilities.
Json reliability_json(const std::optional<Reliability>& reliability) {
    if (!reliability) return {};
    Json bins = Json::array();
    for (const ReliabilityBin& bin : reliability->bins) {
        bins.push_back(
            {{"rows", bin.rows}, {"mean_score", bin.mean_score}, {"positive_share", bin.positive_share}});
    }
    return {
        {"brier", reliability->brier}, {"calibration_error", reliability->calibration_error}, {"bins", bins}};
}

Json promoter_json(const Evaluation& evaluation) {
    const ThresholdFigures& at = *evaluation.at_threshold;
    const LabelFigures& label = evaluation.labels.front();
    Json object{{"positives", label.positives}, {"base_rate", label.base_rate}, {"threshold", at.threshold}};
    for (const auto& [name, figure] : figures_of(evaluation))
        put(object, name, *figure);
    object["true_positives"] = at.counts.true_positives;
    object["false_positives"] = at.counts.false_positives;
    object["true_negatives"] = at.counts.true_negatives;
    object["false_negatives"] = at.counts.false_negatives;
    return object;
}

Json groups_json(const Evaluation& evaluation) {
    Json groups = Json::array();
    for (const GroupFigures& group : evaluation.groups) {
        Json object{{"group", group.group}, {"labels", group.labels}, {"defined", group.defined}};
        for (const auto& [name, figure] : figures_of(group))
            put(object, name, *figure);
        object["base_rate_mean"] = number(group.mean_base_rate);
        groups.push_back(std::move(object));
    }
    return groups;
}

Json labels_json(const EvaluationReport& report, const Evaluation& evaluation, bool published) {
    Json labels = Json::array();
    for (const LabelFigures& figures : evaluation.labels) {
        Json object{{"index", figures.label},
                    {"group", report.labels[figures.label].group},
                    {"name", report.labels[figures.label].name},
                    {"positives", figures.positives},
                    {"base_rate", figures.base_rate},
                    {"summarised", figures.summarised}};
        put(object, "auroc", figures.roc_auc);
        put(object, "auprc", figures.average_precision);
        if (published && !report.published.empty() && report.published[figures.label]) {
            object["deepsea_auroc"] = number(report.published[figures.label]->roc_auc);
            object["deepsea_auprc"] = number(report.published[figures.label]->average_precision);
        }
        labels.push_back(std::move(object));
    }
    return labels;
}

Json difference_json(const Evaluation& difference) {
    Json object = Json::object();
    if (difference.at_threshold) {
        for (const auto& [name, figure] : figures_of(difference))
            put(object, name, *figure);
        return object;
    }
    for (const GroupFigures& group : difference.groups)
        for (const auto& [name, figure] : figures_of(group))
            put(object[group.group], name, *figure);
    return object;
}

/// Means and medians of the published figures over the labels of a group that have both.
struct PublishedSummary {
    Summary ours, published;
};
PublishedSummary published_summary(const EvaluationReport& report, const std::string& group) {
    std::vector<std::optional<double>> ours, published;
    for (const LabelFigures& label : report.files.front().evaluation.labels) {
        const std::optional<double> known = published_of(report, label.label).roc_auc;
        const bool member = group == "all" || report.labels[label.label].group == group;
        if (member && label.summarised && known) {
            ours.push_back(label.roc_auc.value);
            published.push_back(known);
        }
    }
    return {summarise(ours), summarise(published)};
}

Json published_json(const EvaluationReport& report) {
    Json groups = Json::array();
    for (const GroupFigures& group : report.files.front().evaluation.groups) {
        const PublishedSummary both = published_summary(report, group.group);
        groups.push_back({{"group", group.group},
                          {"labels", both.ours.defined},
                          {"auroc_mean", number(both.ours.mean)},
                          {"auroc_median", number(both.ours.median)},
                          {"deepsea_auroc_mean", number(both.published.mean)},
                          {"deepsea_auroc_median", number(both.published.median)}});
    }
    return groups;
}

std::string promoter_tsv(const EvaluationReport& report) {
    std::string text = "figure\tvalue\tlow\thigh";
    for (std::size_t i = 1; i < report.files.size(); ++i)
        text += difference_columns(report.files[i].name);
    text += '\n';
    const NamedFigures figures = figures_of(report.files.front().evaluation);
    for (std::size_t f = 0; f < figures.size(); ++f) {
        text += figures[f].first + '\t' + cells(*figures[f].second);
        for (std::size_t i = 1; i < report.files.size(); ++i) {
            const FileEvaluation& file = report.files[i];
            text += '\t' + cells(*figures_of(file.evaluation)[f].second) + '\t' +
                    cells(*figures_of(*file.difference)[f].second);
        }
        text += '\n';
    }
    return text;
}

std::string group_lines(const std::string& prefix, const std::vector<GroupFigures>& groups) {
    std::string text;
    for (const GroupFigures& group : groups) {
        text += prefix + group.group + "\tlabels=" + std::to_string(group.labels) +
                "\tdefined=" + std::to_string(group.defined);
        for (const auto& [name, figure] : figures_of(group))
            text += '\t' + name + "=" + cells(*figure, ',');
        text += "\tbase_rate_mean=" + cell(group.mean_base_rate) + "\n";
    }
    return text;
}

std::string difference_lines(const FileEvaluation& file) {
    std::string text;
    for (const GroupFigures& group : file.difference->groups) {
        text += "##difference " + file.name + " " + group.group;
        for (const auto& [name, figure] : figures_of(group))
            text += '\t' + name + "=" + cells(*figure, ',');
        text += '\n';
    }
    return text;
}

std::string chromatin_tsv(const EvaluationReport& report) {
    std::string text = group_lines("##group ", report.files.front().evaluation.groups);
    for (std::size_t i = 1; i < report.files.size(); ++i) {
        text += group_lines("##file " + report.files[i].name + " ", report.files[i].evaluation.groups) +
                difference_lines(report.files[i]);
    }
    text +=
        "index\tgroup\tname\tpositives\tbase_rate\tauroc\tauroc_low\tauroc_high\tauprc\tauprc_low\tauprc_"
        "high";
    for (std::size_t i = 1; i < report.files.size(); ++i)
        text += "\tauroc:" + report.files[i].name + "\tauprc:" + report.files[i].name;
    text += report.published.empty() ? "\n" : "\tdeepsea_auroc\tdeepsea_auprc\n";
    const std::vector<LabelFigures>& labels = report.files.front().evaluation.labels;
    for (std::size_t l = 0; l < labels.size(); ++l) {
        const LabelFigures& label = labels[l];
        text += std::to_string(label.label) + '\t' + report.labels[label.label].group + '\t' +
                report.labels[label.label].name + '\t' + std::to_string(label.positives) + '\t' +
                cell(label.base_rate) + '\t' + cells(label.roc_auc) + '\t' + cells(label.average_precision);
        for (std::size_t i = 1; i < report.files.size(); ++i) {
            const LabelFigures& other = report.files[i].evaluation.labels[l];
            text += '\t' + cell(other.roc_auc.value) + '\t' + cell(other.average_precision.value);
        }
        if (!report.published.empty()) {
            const rows::PublishedFigures known = published_of(report, label.label);
            text += '\t' + cell(known.roc_auc) + '\t' + cell(known.average_precision);
        }
        text += '\n';
    }
    return text;
}

void add_file_lines(const EvaluationReport& report, const FileEvaluation& file,
                    std::vector<std::string>& lines) {
    const Evaluation& evaluation = file.evaluation;
    const std::string which = report.files.size() > 1 ? file.name + ": " : "";
    if (evaluation.at_threshold) {
        for (const auto& [name, figure] : figures_of(evaluation))
            lines.push_back(fmt::format("{}{:<10}{}", which, name, brief(*figure)));
        return;
    }
    for (const GroupFigures& group : evaluation.groups) {
        lines.push_back(fmt::format(
            "{}{}: {} of {} labels; AUROC mean {}, median {}; AUPRC mean {}, median {}, base rate {}", which,
            group.group, group.defined, group.labels, brief(group.mean_roc_auc), brief(group.median_roc_auc),
            brief(group.mean_average_precision), brief(group.median_average_precision),
            brief({group.mean_base_rate, {}, {}})));
    }
    if (std::ranges::all_of(evaluation.groups, [](const GroupFigures& group) { return group.defined == 0; }))
        lines.push_back(which + "no label is 1 in some rows and 0 in others, so that there are no figures");
}

}  // namespace

Json number(const std::optional<double>& value) {
    return value ? Json(*value) : Json();
}

void put(Json& object, const std::string& key, const Figure& figure) {
    object[key] = number(figure.value);
    object[key + "_interval"] = figure.low && figure.high ? Json{*figure.low, *figure.high} : Json();
}

std::string cell(const std::optional<double>& value) {
    std::string text;
    rows::append_number(text, value.value_or(std::numeric_limits<double>::quiet_NaN()));
    return text;
}

std::string cells(const Figure& figure, char separator) {
    return cell(figure.value) + separator + cell(figure.low) + separator + cell(figure.high);
}

rows::PublishedFigures published_of(const EvaluationReport& report, std::size_t label) {
    return report.published[label].value_or(rows::PublishedFigures());
}

std::string about_lines(const Json& about) {
    std::string text;
    for (const auto& [key, value] : about.items())
        text += "##" + key + "=" + text_of(value) + "\n";
    return text;
}

std::string about_html(const Json& about) {
    std::string html = "<h2>Made from</h2><dl>";
    for (const auto& [key, value] : about.items())
        html += "<dt>" + escaped_html(key) + "</dt><dd>" + escaped_html(text_of(value)) + "</dd>";
    return html + "</dl>\n";
}

std::string opening_html(const Json& about, std::int64_t rows, std::int64_t units,
                         const std::string& resampled) {
    return fmt::format("<p>{} of split {}", counted(rows, "row"),
                       escaped_html(about["split"].get<std::string>())) +
           (about["parameters"]["resamples"] > 0
                ? fmt::format("; 95 % intervals from {} resampled {}.", units, escaped_html(resampled))
                : ".");
}

std::string difference_columns(const std::string& file) {
    return fmt::format("\t{0}\t{0}_low\t{0}_high\tdifference\tdifference_low\tdifference_high", file);
}

NamedFigures figures_of(const GroupFigures& group) {
    return {{"auroc_mean", &group.mean_roc_auc},
            {"auroc_median", &group.median_roc_auc},
            {"auprc_mean", &group.mean_average_precision},
            {"auprc_median", &group.median_average_precision}};
}

NamedFigures figures_of(const Evaluation& evaluation) {
    const LabelFigures& label = evaluation.labels.front();
    const ThresholdFigures& at = *evaluation.at_threshold;
    return {{"auroc", &label.roc_auc},
            {"auprc", &label.average_precision},
            {"f1", &at.f1},
            {"precision", &at.precision},
            {"recall", &at.recall},
            {"mcc", &at.mcc},
            {"accuracy", &at.accuracy}};
}

std::string brief(const Figure& figure) {
    if (!figure.value) return "NA";
    return figure.low ? fmt::format("{:.3f} [{:.3f}, {:.3f}]", *figure.value, *figure.low, *figure.high)
                      : fmt::format("{:.3f}", *figure.value);
}

Json to_json(const EvaluationReport& report) {
    Json json = report.about;
    for (const FileEvaluation& file : report.files) {
        const bool is_first = &file == &report.files.front();
        Json other{{"name", file.name}};
        Json& object = is_first ? json : other;
        if (file.evaluation.at_threshold) {
            object["promoter"] = promoter_json(file.evaluation);
        } else {
            object["groups"] = groups_json(file.evaluation);
            object["labels"] = labels_json(report, file.evaluation, is_first);
        }
        object["reliability"] = reliability_json(file.evaluation.reliability);
        if (is_first) {
            if (!report.published.empty()) json["deepsea"] = published_json(report);
            if (report.scan) json["scan"] = to_json(*report.scan);
        } else {
            other["difference"] = difference_json(*file.difference);
            json["others"].push_back(std::move(other));
        }
    }
    return json;
}

std::string to_tsv(const EvaluationReport& report) {
    std::string text = about_lines(report.about);
    for (const FileEvaluation& file : report.files) {
        if (file.evaluation.reliability) {
            text += "##reliability " + file.name + "=" +
                    reliability_json(file.evaluation.reliability).dump() + "\n";
        }
    }
    if (report.scan) text += "##scan=" + to_json(*report.scan).dump() + "\n";
    const bool promoter = report.files.front().evaluation.at_threshold.has_value();
    return text + (promoter ? promoter_tsv(report) : chromatin_tsv(report));
}

std::vector<std::string> to_lines(const EvaluationReport& report) {
    const Evaluation& first = report.files.front().evaluation;
    const Json& parameters = report.about["parameters"];
    std::vector<std::string> lines{
        fmt::format("{} of split {}", counted(first.rows, "row"), report.about["split"].get<std::string>())};
    if (parameters["resamples"] > 0) {
        lines.back() += fmt::format(", 95 % intervals from {} of {} bp", counted(first.blocks, "block"),
                                    parameters["block_size"].get<std::int64_t>());
    }
    if (first.at_threshold) {
        lines.push_back(fmt::format("{}, negatives: {}", counted(first.labels.front().positives, "positive"),
                                    report.about.value("negatives", "unknown")));
    }
    for (const FileEvaluation& file : report.files) {
        add_file_lines(report, file, lines);
        if (const auto& reliability = file.evaluation.reliability) {
            lines.push_back(fmt::format("{}calibration error {:.4f}, Brier score {:.4f}",
                                        report.files.size() > 1 ? file.name + ": " : "",
                                        reliability->calibration_error, reliability->brier));
        }
    }
    for (std::size_t i = 1; i < report.files.size(); ++i) {
        const Evaluation& difference = *report.files[i].difference;
        lines.push_back(fmt::format("{} - {}: {}", report.files[i].name, report.files.front().name,
                                    first.at_threshold
                                        ? "AUROC " + brief(difference.labels.front().roc_auc)
                                        : "AUROC mean " + brief(difference.groups.front().mean_roc_auc)));
    }
    for (const GroupFigures& group : first.groups) {
        if (report.published.empty()) break;
        const PublishedSummary both = published_summary(report, group.group);
        lines.push_back(fmt::format("{}: {} of DeepSEA's; AUROC median {}, DeepSEA's {}", group.group,
                                    counted(both.ours.defined, "label"), brief({both.ours.median, {}, {}}),
                                    brief({both.published.median, {}, {}})));
    }
    if (report.scan) {
        lines.push_back(fmt::format(
            "scan: {} in {:.2f} Mb, {} of them right; {} false calls per Mb; {} of {} TSSs found",
            counted(report.scan->calls, "call"), static_cast<double>(report.scan->scanned_bases) / 1e6,
            report.scan->right_calls,
            report.scan->false_calls_a_megabase ? fmt::format("{:.2f}", *report.scan->false_calls_a_megabase)
                                                : "NA",
            report.scan->found_tss, report.scan->tss));
    }
    return lines;
}

}  // namespace bigbird::evaluation
