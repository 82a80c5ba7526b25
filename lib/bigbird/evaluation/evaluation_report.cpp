// SPDX-License-Identifier: Apache-2.0
#include "bigbird/evaluation/evaluation_report.hpp"

#include "bigbird/core/log.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/rows/text_fields.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace bigbird::evaluation {

namespace {

bool of_places(const EvaluationReport& report) {
    return report.kind == Kind::promoters || report.kind == Kind::peaks;
}

/// The figures of a group of peaks.
std::span<const Figure> of_group(const EvaluationReport& report, const Figures& figures, std::size_t group) {
    return std::span(figures.all).subspan(group * report.names.size(), report.names.size());
}

void put_all(Json& object, const std::vector<std::string>& names, std::span<const Figure> figures) {
    for (std::size_t i = 0; i < names.size(); ++i)
        put(object, names[i], figures[i]);
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

Json promoter_json(const EvaluationReport& report, const FileEvaluation& file) {
    const EvaluatedColumn& column = report.columns.front();
    Json object{
        {"positives", column.positives}, {"base_rate", column.base_rate}, {"threshold", file.threshold}};
    put_all(object, report.names, file.figures.all);
    object["true_positives"] = file.confusion[1][1];
    object["false_positives"] = file.confusion[0][1];
    object["true_negatives"] = file.confusion[0][0];
    object["false_negatives"] = file.confusion[1][0];
    return object;
}

Json groups_json(const EvaluationReport& report, const FileEvaluation& file) {
    Json groups = Json::array();
    for (std::size_t g = 0; g < report.groups.size(); ++g) {
        const Group& group = report.groups[g];
        Json& object = groups.emplace_back(
            Json{{"group", group.name}, {"labels", group.labels}, {"defined", group.members.size()}});
        put_all(object, report.names, of_group(report, file.figures, g));
        object["base_rate_mean"] = number(group.mean_base_rate);
    }
    return groups;
}

Json labels_json(const EvaluationReport& report, const FileEvaluation& file, bool published) {
    Json labels = Json::array();
    for (std::size_t c = 0; c < report.columns.size(); ++c) {
        const EvaluatedColumn& column = report.columns[c];
        Json& object = labels.emplace_back(Json{{"index", column.label},
                                                {"group", report.labels[column.label].group},
                                                {"name", report.labels[column.label].name},
                                                {"positives", column.positives},
                                                {"base_rate", column.base_rate},
                                                {"summarised", column.summarised}});
        put_all(object, report.names_of_each, file.figures.each[c]);
        if (published && !report.published.empty() && report.published[column.label]) {
            object["deepsea_auroc"] = number(report.published[column.label]->roc_auc);
            object["deepsea_auprc"] = number(report.published[column.label]->average_precision);
        }
    }
    return labels;
}

Json difference_json(const EvaluationReport& report, const Figures& difference) {
    Json object = Json::object();
    if (report.kind == Kind::promoters) put_all(object, report.names, difference.all);
    for (std::size_t g = 0; g < report.groups.size(); ++g)
        put_all(object[report.groups[g].name], report.names, of_group(report, difference, g));
    return object;
}

/// Means and medians of the published figures over the labels of a group that have both.
struct PublishedSummary {
    Summary ours, published;
};
PublishedSummary published_summary(const EvaluationReport& report, const Group& group) {
    FigureValues ours, published;
    for (const std::size_t member : group.members) {
        const auto known = published_of(report, report.columns[member].label).roc_auc;
        if (!known) continue;
        ours.push_back(report.files.front().figures.each[member][0].value);
        published.emplace_back(known);
    }
    return {summarise(ours), summarise(published)};
}

Json published_json(const EvaluationReport& report) {
    Json groups = Json::array();
    for (const Group& group : report.groups) {
        const PublishedSummary both = published_summary(report, group);
        groups.push_back({{"group", group.name},
                          {"labels", both.ours.defined},
                          {"auroc_mean", number(both.ours.mean)},
                          {"auroc_median", number(both.ours.median)},
                          {"deepsea_auroc_mean", number(both.published.mean)},
                          {"deepsea_auroc_median", number(both.published.median)}});
    }
    return groups;
}

void put_bounds(Json& object, const std::string& name, const Figure& figure) {
    object[name] = number(figure.value);
    object[name + "_low"] = number(figure.low);
    object[name + "_high"] = number(figure.high);
}

/// The figures of sequences and of coverage, of all rows and of each class, label or number.
void put_file(Json& object, const EvaluationReport& report, const FileEvaluation& file) {
    for (std::size_t i = 0; i < report.names.size(); ++i) {
        put_bounds(object, report.names[i], file.figures.all[i]);
        if (file.difference) put_bounds(object["difference"], report.names[i], file.difference->all[i]);
    }
    Json& each = object[std::string(word_of(examples::target_choices, report.target))] = Json::array();
    for (std::size_t c = 0; c < report.columns.size(); ++c) {
        Json& one = each.emplace_back(Json{{"index", c}, {"name", report.labels[c].name}});
        for (std::size_t i = 0; i < report.names_of_each.size(); ++i)
            one[report.names_of_each[i]] = number(file.figures.each[c][i].value);
    }
    if (!file.confusion.empty()) object["confusion"] = file.confusion;
}

/// The names of a table's columns for the first file's figure, then for the figure of each other file and its
/// difference from the first file's.
std::string file_columns(const EvaluationReport& report) {
    std::string text = "\tvalue\tlow\thigh";
    for (std::size_t f = 1; f < report.files.size(); ++f)
        text += fmt::format("\t{0}\t{0}_low\t{0}_high\tdifference\tdifference_low\tdifference_high",
                            rows::without_breaks(report.files[f].name));
    return text + '\n';
}

std::string file_cells(const EvaluationReport& report, std::size_t figure) {
    std::string text = '\t' + cells(report.files.front().figures.all[figure]);
    for (std::size_t f = 1; f < report.files.size(); ++f) {
        const FileEvaluation& file = report.files[f];
        text += '\t' + cells(file.figures.all[figure]) + '\t' + cells(file.difference->all[figure]);
    }
    return text + '\n';
}

std::string promoter_tsv(const EvaluationReport& report) {
    std::string text = "figure" + file_columns(report);
    for (std::size_t i = 0; i < report.names.size(); ++i)
        text += report.names[i] + file_cells(report, i);
    return text;
}

std::string sequences_tsv(const EvaluationReport& report) {
    std::string text;
    for (const FileEvaluation& file : report.files)
        if (!file.confusion.empty())
            text += "##confusion " + file.name + "=" + Json(file.confusion).dump() + "\n";
    text += "figure\tof" + file_columns(report);
    for (std::size_t i = 0; i < report.names.size(); ++i)
        text += report.names[i] + "\tall" + file_cells(report, i);
    for (std::size_t c = 0; c < report.columns.size(); ++c) {
        for (std::size_t i = 0; i < report.names_of_each.size(); ++i) {
            text += report.names_of_each[i] + '\t' + report.labels[c].name;
            for (const FileEvaluation& file : report.files) {
                text += '\t' + cells({file.figures.each[c][i].value, {}, {}});
                if (file.difference) text += "\tNA\tNA\tNA";
            }
            text += '\n';
        }
    }
    return text;
}

std::string group_figures(const EvaluationReport& report, const Figures& figures, std::size_t group) {
    std::string text;
    for (std::size_t i = 0; i < report.names.size(); ++i)
        text += '\t' + report.names[i] + "=" + cells(of_group(report, figures, group)[i], ',');
    return text;
}

std::string group_lines(const EvaluationReport& report, const FileEvaluation& file) {
    std::string text, differences;
    for (std::size_t g = 0; g < report.groups.size(); ++g) {
        const Group& group = report.groups[g];
        text += (file.difference ? "##file " + file.name + " " : "##group ") + group.name +
                fmt::format("\tlabels={}\tdefined={}", group.labels, group.members.size()) +
                group_figures(report, file.figures, g) + "\tbase_rate_mean=" + cell(group.mean_base_rate) +
                "\n";
        if (file.difference) {
            differences += "##difference " + file.name + " " + group.name +
                           group_figures(report, *file.difference, g) + '\n';
        }
    }
    return text + differences;
}

std::string peaks_tsv(const EvaluationReport& report) {
    std::string text;
    for (const FileEvaluation& file : report.files)
        text += group_lines(report, file);
    text +=
        "index\tgroup\tname\tpositives\tbase_rate\tauroc\tauroc_low\tauroc_high\tauprc\tauprc_low\tauprc_"
        "high";
    for (std::size_t f = 1; f < report.files.size(); ++f)
        text += fmt::format("\tauroc:{0}\tauprc:{0}", report.files[f].name);
    text += report.published.empty() ? "\n" : "\tdeepsea_auroc\tdeepsea_auprc\n";
    for (std::size_t c = 0; c < report.columns.size(); ++c) {
        const EvaluatedColumn& column = report.columns[c];
        const rows::Label& label = report.labels[column.label];
        text += fmt::format("{}\t{}\t{}\t{}\t{}", column.label, label.group, label.name, column.positives,
                            cell(column.base_rate));
        for (const FileEvaluation& file : report.files)
            for (const Figure& figure : file.figures.each[c])
                text += '\t' + (file.difference ? cell(figure.value) : cells(figure));
        if (!report.published.empty()) {
            const rows::PublishedFigures known = published_of(report, column.label);
            text += '\t' + cell(known.roc_auc) + '\t' + cell(known.average_precision);
        }
        text += '\n';
    }
    return text;
}

void add_file_lines(const EvaluationReport& report, const FileEvaluation& file,
                    std::vector<std::string>& lines) {
    const std::string which = report.files.size() > 1 ? file.name + ": " : "";
    if (report.kind != Kind::peaks)
        for (std::size_t i = 0; i < report.names.size(); ++i)
            lines.push_back(fmt::format("{}{:<9} {}", which, report.names[i], brief(file.figures.all[i])));
    for (std::size_t g = 0; g < report.groups.size(); ++g) {
        const Group& group = report.groups[g];
        const auto figures = of_group(report, file.figures, g);
        lines.push_back(fmt::format(
            "{}{}: {} of {} labels; AUROC mean {}, median {}; AUPRC mean {}, median {}, base rate {}", which,
            group.name, group.members.size(), group.labels, brief(figures[0]), brief(figures[1]),
            brief(figures[2]), brief(figures[3]),
            group.mean_base_rate ? share_text(*group.mean_base_rate) : "NA"));
    }
    if (report.kind == Kind::peaks &&
        std::ranges::all_of(report.groups, &std::vector<std::size_t>::empty, &Group::members))
        lines.push_back(which + "no label is 1 in some rows and 0 in others, so that there are no figures");
    if (file.reliability) {
        lines.push_back(fmt::format("{}calibration error {:.4f}, Brier score {:.4f}", which,
                                    file.reliability->calibration_error, file.reliability->brier));
        if (const auto warning = unreliable(*file.reliability)) lines.push_back(which + *warning);
    }
}

/// The figure whose difference is told: its name, and its index.
std::pair<std::string, std::size_t> main_figure(const EvaluationReport& report) {
    if (of_places(report)) return {report.kind == Kind::peaks ? "AUROC mean" : "AUROC", 0};
    const std::size_t main = report.target == examples::TargetKind::numbers ? 0 : 1;  // Pearson's r, MCC
    return {report.names[main], main};
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

std::string text_of(const Json& value) {
    return value.is_string() ? value.get<std::string>() : value.dump();
}

rows::PublishedFigures published_of(const EvaluationReport& report, std::size_t label) {
    return report.published[label].value_or(rows::PublishedFigures());
}

std::string brief(const Figure& figure) {
    if (!figure.value) return "NA";
    return figure.low ? fmt::format("{:.3f} [{:.3f}, {:.3f}]", *figure.value, *figure.low, *figure.high)
                      : fmt::format("{:.3f}", *figure.value);
}

std::string share_text(double share) {
    const int digits = share > 0 ? std::max(3, 1 - static_cast<int>(std::floor(std::log10(share)))) : 3;
    return fmt::format("{:.{}f}", share, digits);
}

Json to_json(const EvaluationReport& report) {
    Json json = report.about;
    for (const FileEvaluation& file : report.files) {
        const bool is_first = &file == &report.files.front();
        Json other{{"name", file.name}};
        Json& object = is_first ? json : other;
        if (!of_places(report)) put_file(object, report, file);
        if (report.kind == Kind::promoters) object["promoter"] = promoter_json(report, file);
        if (report.kind == Kind::peaks) {
            object["groups"] = groups_json(report, file);
            object["labels"] = labels_json(report, file, is_first);
        }
        if (of_places(report)) object["reliability"] = reliability_json(file.reliability);
        if (is_first) {
            if (!report.published.empty()) json["deepsea"] = published_json(report);
            if (report.scan) json["scan"] = to_json(*report.scan);
        } else {
            if (of_places(report)) other["difference"] = difference_json(report, *file.difference);
            json["others"].push_back(std::move(other));
        }
    }
    return json;
}

std::string to_tsv(const EvaluationReport& report) {
    std::string text;
    for (const auto& [key, value] : report.about.items())
        text += "##" + key + "=" + text_of(value) + "\n";
    for (const FileEvaluation& file : report.files)
        if (file.reliability)
            text += "##reliability " + file.name + "=" + reliability_json(file.reliability).dump() + "\n";
    if (report.scan) text += "##scan=" + to_json(*report.scan).dump() + "\n";
    if (report.kind == Kind::promoters) return text + promoter_tsv(report);
    return text + (report.kind == Kind::peaks ? peaks_tsv(report) : sequences_tsv(report));
}

std::vector<std::string> to_lines(const EvaluationReport& report) {
    const Json& parameters = report.about["parameters"];
    std::vector<std::string> lines{
        fmt::format("{} of split {}", counted(report.rows, "row"), report.about["split"].get<std::string>())};
    if (parameters["resamples"] > 0) {
        const bool blocks = parameters.contains("block_size");
        const bool too_few = blocks && report.units < fewest_blocks;
        lines.back() +=
            (too_few ? fmt::format(", no intervals, which need {} blocks: only ", fewest_blocks)
                     : ", 95 % intervals from ") +
            (blocks ? counted(report.units, "block") +
                          fmt::format(" of {} bp", parameters["block_size"].get<std::int64_t>())
                    : fmt::format("{} {}", report.units, parameters["resampled"].get<std::string>()));
    }
    if (report.kind == Kind::promoters) {
        lines.push_back(fmt::format("{}, negatives: {}",
                                    counted(report.columns.front().positives, "positive"),
                                    report.about.value("negatives", "unknown")));
    }
    for (const FileEvaluation& file : report.files)
        add_file_lines(report, file, lines);
    const auto [name, main] = main_figure(report);
    for (std::size_t f = 1; f < report.files.size(); ++f) {
        lines.push_back(fmt::format("{} - {}: {} {}", report.files[f].name, report.files.front().name, name,
                                    brief(report.files[f].difference->all[main])));
    }
    for (const Group& group : report.groups) {
        if (report.published.empty()) break;
        const PublishedSummary both = published_summary(report, group);
        lines.push_back(fmt::format("{}: {} of DeepSEA's; AUROC median {}, DeepSEA's {}", group.name,
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
