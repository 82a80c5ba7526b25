// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/log.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/evaluation/evaluation_report.hpp"
#include "bigbird/evaluation/plot.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace bigbird::evaluation {

namespace {

/// The order of the files in tables: the first, which the others are compared with, comes last.
std::vector<std::size_t> shown_files(const EvaluationReport& report) {
    std::vector<std::size_t> order;
    for (std::size_t i = 1; i <= report.files.size(); ++i)
        order.push_back(i % report.files.size());
    return order;
}

/// A range slightly larger than that of the values, within 0 and 1.
Range range_of(const std::vector<double>& values) {
    if (values.empty()) return {};
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    const double margin = std::max(0.02, 0.08 * (*most - *least));
    return Range{std::max(0.0, *least - margin), std::min(1.0, *most + margin)}.rounded();
}

/// Joins neighboring bins until each has `least` rows, because a share of very few rows is meaningless.
std::vector<ReliabilityBin> merged(const std::vector<ReliabilityBin>& bins, std::int64_t least) {
    std::vector<ReliabilityBin> result;
    const auto add = [](ReliabilityBin& to, const ReliabilityBin& bin) {
        const auto rows = static_cast<double>(to.rows + bin.rows);
        const double share = static_cast<double>(bin.rows) / rows;
        to.mean_score += (bin.mean_score - to.mean_score) * share;
        to.positive_share += (bin.positive_share - to.positive_share) * share;
        to.rows += bin.rows;
    };
    for (const ReliabilityBin& bin : bins)
        if (!result.empty() && result.back().rows < least)
            add(result.back(), bin);
        else
            result.push_back(bin);
    if (result.size() > 1 && result.back().rows < least) {
        add(result[result.size() - 2], result.back());
        result.pop_back();
    }
    return result;
}

/// Plots calibration: on the diagonal, scores equal the observed shares.
std::string reliability_picture(const EvaluationReport& report) {
    constexpr std::int64_t least = 20;
    std::vector<double> ends{0};
    for (const FileEvaluation& file : report.files) {
        if (!file.reliability) continue;
        for (const ReliabilityBin& bin : merged(file.reliability->bins, least)) {
            ends.push_back(bin.mean_score);
            ends.push_back(bin.positive_share);
        }
    }
    if (ends.size() == 1) return "";
    const Range range = range_of(ends);
    std::string caption = fmt::format(
        "Reliability. Numbers: rows per point; tenths of the scores with fewer than {} rows are joined with "
        "their neighbors.",
        least);
    for (const FileEvaluation& file : report.files)
        if (const auto warning = file.reliability ? unreliable(*file.reliability) : std::nullopt)
            caption += fmt::format(" {}: {}.", file.name, *warning);
    Plot plot(caption, "mean score", "share of positive rows", range, range);
    plot.diagonal();
    for (std::size_t i = 0; i < report.files.size(); ++i) {
        const auto& reliability = report.files[i].reliability;
        if (!reliability) continue;
        const char* colour = colour_of(i);
        PlotLine points;
        for (const ReliabilityBin& bin : merged(reliability->bins, least)) {
            points.emplace_back(bin.mean_score, bin.positive_share);
            plot.point(bin.mean_score, bin.positive_share, colour,
                       fmt::format("{}, {:.4f} positive", counted(bin.rows, "row"), bin.positive_share),
                       1.5 + 0.9 * std::log10(static_cast<double>(bin.rows)));
            plot.words(bin.mean_score, bin.positive_share, std::to_string(bin.rows), colour);
        }
        plot.line(points, colour);
    }
    return plot.html();
}

PlotLine precision_of(const std::vector<CurvePoint>& curve) {
    PlotLine points(curve.size());
    std::ranges::transform(curve, points.begin(),
                           [](const CurvePoint& point) { return std::pair(point.recall, point.precision); });
    return points;
}

/// Precision at each fiftieth of recall, the mean over the labels that count.
PlotLine mean_precision(const std::vector<std::vector<CurvePoint>>& curves) {
    constexpr int parts = 50;
    PlotLine points;
    for (int part = 1; part <= parts; ++part) {
        const double recall = static_cast<double>(part) / parts;
        double sum = 0, count = 0;
        for (const std::vector<CurvePoint>& curve : curves) {
            const auto at = std::ranges::find_if(
                curve, [&](const CurvePoint& point) { return point.recall >= recall - 1e-9; });
            if (at == curve.end()) continue;
            sum += at->precision;
            count += 1;
        }
        if (count > 0) points.emplace_back(recall, sum / count);
    }
    return points;
}

/// Each file's precision by recall.
std::string precision_picture(const std::string& caption, double base_rate,
                              const std::vector<PlotLine>& lines) {
    std::vector<double> heights{0};
    for (const PlotLine& line : lines)
        for (const auto& [x, y] : line)
            heights.push_back(y);
    Plot plot(caption, "recall", "precision", {}, range_of(heights));
    plot.level(base_rate);
    for (std::size_t i = 0; i < lines.size(); ++i)
        plot.line(lines[i], colour_of(i));
    return plot.html();
}

/// Precision and recall: the mean of several labels, then the labels with the most positives.
std::string precision_pictures(const EvaluationReport& report) {
    constexpr std::size_t most = 12;
    std::vector<std::size_t> order;
    double base_rate = 0;
    for (std::size_t c = 0; c < report.columns.size(); ++c) {
        if (report.files.front().curves[c].empty()) continue;
        order.push_back(c);
        base_rate += report.columns[c].base_rate;
    }
    if (order.empty()) return "";
    std::ranges::stable_sort(order, std::greater(),
                             [&](std::size_t c) { return report.columns[c].positives; });
    std::string html;
    std::vector<PlotLine> lines;
    for (const FileEvaluation& file : report.files)
        lines.push_back(mean_precision(file.curves));
    if (order.size() > 1) {
        html = precision_picture(
            fmt::format("Mean of {}{}. Dashes: mean base rate.", counted(order.size(), "label"),
                        order.size() > most ? ", and those with the most positives" : ""),
            base_rate / static_cast<double>(order.size()), lines);
    }
    for (std::size_t n = 0; n < std::min(most, order.size()); ++n) {
        const EvaluatedColumn& column = report.columns[order[n]];
        for (std::size_t f = 0; f < lines.size(); ++f)
            lines[f] = precision_of(report.files[f].curves[order[n]]);
        html += precision_picture(
            fmt::format("{}: {}. Dashes: base rate {}.", report.labels[column.label].name,
                        counted(column.positives, "positive"), share_text(column.base_rate)),
            column.base_rate, lines);
    }
    return html;
}

/// The threshold of each file's F1 and accuracy.
std::string thresholds_html(const EvaluationReport& report) {
    std::string html =
        "<p>F1, precision, recall, MCC and accuracy count scores from a threshold on as positive: ";
    bool differ = false;
    for (std::size_t i = 0; i < report.files.size(); ++i) {
        const FileEvaluation& file = report.files[i];
        html += fmt::format("{}{} {:.4g} ({})", i > 0 ? ", " : "", escaped_html(file.name), file.threshold,
                            escaped_html(file.threshold_rule));
        differ = differ || file.threshold != report.files.front().threshold;
    }
    return html + (differ ? ". <b>These thresholds differ</b>; AUROC and AUPRC need none.</p>\n" : ".</p>\n");
}

std::string difference_title(const EvaluationReport& report, const FileEvaluation& file) {
    return file.name + " \u2212 " + report.files.front().name;
}

/// The name of a figure of peaks for people: a single label has neither mean nor median.
std::string figure_name(const EvaluationReport& report, std::size_t figure) {
    if (report.kind != Kind::peaks) return report.names[figure];
    const std::string name = figure < 2 ? "AUROC" : "AUPRC";
    if (report.groups.front().members.size() == 1) return name;
    return name + (figure % 2 == 0 ? ", mean" : ", median");
}

/// A table with a row for each figure of all columns: each file's values, and differences.
std::string figures_html(const EvaluationReport& report) {
    const bool one_label = report.kind == Kind::peaks && report.groups.front().members.size() == 1;
    std::string html = files_head(names_of(report.files)) + "\n";
    for (std::size_t i = 0; i < report.names.size(); i += one_label ? 2 : 1) {
        html += "<tr>" + html_cell(figure_name(report, i), true);
        for (const std::size_t file : shown_files(report))
            html += html_cell(brief(report.files[file].figures.all[i]));
        for (std::size_t f = 1; f < report.files.size(); ++f)
            html += html_cell(brief(report.files[f].difference->all[i]));
        html += "</tr>\n";
    }
    return html + "</table>\n";
}

/// Each file's recall by false positive rate in a column.
std::string roc_picture(const EvaluationReport& report, const std::string& caption, std::size_t column) {
    Plot plot(caption, "false positive rate", "recall");
    plot.diagonal();
    for (std::size_t f = 0; f < report.files.size(); ++f) {
        PlotLine points{{0, 0}};
        for (const CurvePoint& point : report.files[f].curves[column])
            points.emplace_back(point.false_positive_rate, point.recall);
        if (points.size() > 1) plot.line(points, colour_of(f));
    }
    return plot.html();
}

/// Pictures under a heading; empty if there are none.
std::string pictures_html(const EvaluationReport& report, const std::string& pictures) {
    if (pictures.empty()) return "";
    return "<h2>Pictures</h2>" + legend_html(names_of(report.files)) + "<div class=pictures>" + pictures +
           "</div>\n";
}

/// Rows of each class by called class. Darker cells have a larger share of the class.
std::string confusion_matrix(const EvaluationReport& report, const FileEvaluation& file) {
    const auto name = [&](std::size_t i) {
        if (report.kind != Kind::promoters) return report.labels[i].name;
        return std::string(i == 0 ? "other" : "promoter");
    };
    std::string html = "<table class=confusion><tr>" + html_heading(file.name + ": class, called");
    for (std::size_t called = 0; called < file.confusion.size(); ++called)
        html += html_heading(name(called));
    html += "</tr>\n";
    for (std::size_t truth = 0; truth < file.confusion.size(); ++truth) {
        const auto rows = std::reduce(file.confusion[truth].begin(), file.confusion[truth].end());
        html += "<tr>" + html_cell(name(truth), true);
        for (std::size_t called = 0; called < file.confusion.size(); ++called) {
            const std::int64_t count = file.confusion[truth][called];
            const double share = rows > 0 ? static_cast<double>(count) / static_cast<double>(rows) : 0;
            html += fmt::format("<td style='background:rgba({},{:.2f})'>{}</td>",
                                truth == called ? "27,108,168" : "209,73,91", 0.75 * share, count);
        }
        html += "</tr>\n";
    }
    return html + "</table>\n";
}

std::string promoter_html(const EvaluationReport& report) {
    std::vector<PlotLine> lines;
    for (const FileEvaluation& file : report.files)
        lines.push_back(precision_of(file.curves.front()));
    std::string html = pictures_html(report, roc_picture(report, "ROC", 0) +
                                                 precision_picture("Precision and recall. Dashes: base rate.",
                                                                   report.columns.front().base_rate, lines) +
                                                 reliability_picture(report)) +
                       "<h2>Calls</h2>" + thresholds_html(report);
    for (const std::size_t f : shown_files(report))
        html += confusion_matrix(report, report.files[f]);
    if (report.scan) {
        const ScanFigures& scan = *report.scan;
        html += fmt::format(
            "<h2>Scan</h2><p>{} calls in {:.2f} Mb, {} of them within reach of a TSS: {} false calls per Mb; "
            "{} of {} "
            "TSSs found.</p>\n",
            scan.calls, static_cast<double>(scan.scanned_bases) / 1e6, scan.right_calls,
            cell(scan.false_calls_a_megabase), scan.found_tss, scan.tss);
    }
    return html;
}

std::string groups_html(const EvaluationReport& report) {
    if (report.groups.size() < 2) return "";
    std::string html =
        "<h2>Groups</h2><table class=sortable><thead><tr><th class=text>group</th><th "
        "class=text>scores</th><th>labels</th><th>AUROC "
        "mean</th><th>AUROC "
        "median</th><th>AUPRC mean</th><th>AUPRC median</th><th>base rate</th></tr></thead><tbody>";
    for (std::size_t g = 0; g < report.groups.size(); ++g) {
        const Group& group = report.groups[g];
        const auto row = [&](const std::string& name, const std::string& labels, const Figures& figures,
                             const std::string& base_rate) {
            html += "<tr>" + html_cell(group.name, true) + html_cell(name, true) + html_cell(labels);
            for (std::size_t i = 0; i < report.names.size(); ++i)
                html += html_cell(brief(figures.all[g * report.names.size() + i]));
            html += html_cell(base_rate) + "</tr>";
        };
        for (const std::size_t f : shown_files(report)) {
            const FileEvaluation& file = report.files[f];
            row(file.name, std::to_string(group.members.size()) + " of " + std::to_string(group.labels),
                file.figures, group.mean_base_rate ? share_text(*group.mean_base_rate) : "NA");
            if (file.difference) row(difference_title(report, file), "", *file.difference, "");
        }
    }
    return html + "</tbody></table>\n";
}

/// Both axes are the same, over the existing values. If labels are few, their names are shown.
std::string scatter(const EvaluationReport& report, const std::string& other,
                    const std::function<std::optional<double>(std::size_t)>& value) {
    constexpr std::size_t most_names = 15;
    const FileEvaluation& first = report.files.front();
    struct Point {
        double x, y;
        const std::string& name;
    };
    std::vector<Point> points;
    std::vector<double> ends;
    for (std::size_t c = 0; c < report.columns.size(); ++c) {
        const auto x = first.figures.each[c][0].value, y = value(c);
        if (!x || !y) continue;
        points.push_back({*x, *y, report.labels[report.columns[c].label].name});
        ends.insert(ends.end(), {*x, *y});
    }
    if (points.size() < 2) return "";
    const Range range = range_of(ends);
    Plot plot("AUROC of each label. Point at one to see its name.", first.name, other, range, range);
    plot.diagonal();
    for (const Point& point : points) {
        plot.point(point.x, point.y, colour_of(0),
                   fmt::format("{}: {:.4f}, {:.4f}", point.name, point.x, point.y));
        if (points.size() <= most_names) plot.words(point.x, point.y, point.name, "#444");
    }
    return plot.html();
}

std::string labels_html(const EvaluationReport& report) {
    if (report.columns.size() < 2) return "";
    const bool grouped = report.groups.size() > 1;
    std::string html = "<h2>Labels</h2><table class='labels sortable'><thead><tr><th class=text>name</th>";
    html += std::string(grouped ? "<th class=text>group</th>" : "") + "<th>positives</th><th>base rate</th>";
    for (const std::size_t i : shown_files(report))
        for (const char* figure : {"AUROC ", "AUPRC "})
            html += html_heading(figure + (report.files.size() > 1 ? report.files[i].name : ""));
    for (std::size_t i = 1; i < report.files.size(); ++i)
        html += html_heading("AUROC " + difference_title(report, report.files[i]));
    html += report.published.empty() ? "" : "<th>AUROC DeepSEA</th><th>AUPRC DeepSEA</th>";
    html += "</tr></thead><tbody>\n";
    for (std::size_t c = 0; c < report.columns.size(); ++c) {
        const EvaluatedColumn& column = report.columns[c];
        html += "<tr>" + html_cell(report.labels[column.label].name, true);
        html += grouped ? html_cell(report.labels[column.label].group, true) : "";
        html += html_cell(std::to_string(column.positives)) + html_cell(share_text(column.base_rate));
        for (const std::size_t f : shown_files(report))
            for (const Figure& figure : report.files[f].figures.each[c])
                html += html_cell(brief(figure));
        for (std::size_t f = 1; f < report.files.size(); ++f)
            html += html_cell(brief(report.files[f].difference->each[c][0]));
        if (!report.published.empty()) {
            const rows::PublishedFigures known = published_of(report, column.label);
            html += html_cell(cell(known.roc_auc)) + html_cell(cell(known.average_precision));
        }
        html += "</tr>\n";
    }
    return html + "</tbody></table>\n";
}

std::string peaks_html(const EvaluationReport& report) {
    std::string pictures = precision_pictures(report) + reliability_picture(report);
    for (std::size_t f = 1; f < report.files.size(); ++f) {
        const Figures& figures = report.files[f].figures;
        pictures +=
            scatter(report, report.files[f].name, [&](std::size_t c) { return figures.each[c][0].value; });
    }
    if (!report.published.empty()) {
        pictures += scatter(
            report, "DeepSEA, published",
            [&](std::size_t c) { return published_of(report, report.columns[c].label).roc_auc; });
    }
    return groups_html(report) + pictures_html(report, pictures) + labels_html(report);
}

// Sequences and coverage.

constexpr std::size_t most_pictures = 12, most_classes_in_a_matrix = 50;

std::string each_table(const EvaluationReport& report, const FileEvaluation& file) {
    std::string html = "<table><tr>" + html_heading(file.name);
    for (const std::string& name : report.names_of_each)
        html += html_heading(name);
    html += "</tr>\n";
    for (std::size_t c = 0; c < report.columns.size(); ++c) {
        html += "<tr>" + html_cell(report.labels[c].name, true);
        for (std::size_t i = 0; i < report.names_of_each.size(); ++i) {
            const std::optional<double> value = file.figures.each[c][i].value;
            html += html_cell(value ? fmt::format("{:.4g}", *value) : "NA");
        }
        html += "</tr>\n";
    }
    return html + "</table>\n";
}

Range range_of(const std::vector<std::pair<float, float>>& points) {
    float low = points.front().first, high = low;
    for (const auto& [x, y] : points) {
        low = std::min({low, x, y});
        high = std::max({high, x, y});
    }
    const double margin = high > low ? 0.05 * static_cast<double>(high - low) : 0.5;
    return Range{static_cast<double>(low) - margin, static_cast<double>(high) + margin}.rounded();
}

std::string number_picture(const EvaluationReport& report, std::size_t file, std::size_t column) {
    const auto& points = report.files[file].points[column];
    const Range range = range_of(points);
    Plot plot(
        report.files[file].name + ": " + report.labels[column].name + ", " + counted(points.size(), "row"),
        "predicted", "true", range, range);
    plot.diagonal();
    for (const auto& [x, y] : points)
        plot.point(static_cast<double>(x), static_cast<double>(y), colour_of(file),
                   fmt::format("{:.4g}, {:.4g}", x, y), 2);
    return plot.html();
}

std::string sequence_pictures(const EvaluationReport& report) {
    std::string html;
    std::size_t drawn = 0;
    const bool classes = report.target == examples::TargetKind::classes;
    for (std::size_t c = classes && report.columns.size() == 2 ? 1 : 0;
         c < report.columns.size() && drawn < most_pictures; ++c) {
        if (report.target != examples::TargetKind::numbers) {
            html += roc_picture(report, "ROC curve of " + report.labels[c].name, c);
            ++drawn;
            continue;
        }
        for (const std::size_t f : shown_files(report)) {
            if (drawn == most_pictures || report.files[f].points[c].empty()) continue;
            html += number_picture(report, f, c);
            ++drawn;
        }
    }
    return pictures_html(report, html);
}

std::string sequences_html(const EvaluationReport& report) {
    std::string html = report.regions + sequence_pictures(report);
    if (report.columns.size() > 1) {
        html += "<h2>By " + report.noun + "</h2>\n";
        for (const std::size_t f : shown_files(report))
            html += each_table(report, report.files[f]);
    }
    if (!report.files.front().confusion.empty() && report.labels.size() <= most_classes_in_a_matrix) {
        html += "<h2>Confusion</h2>\n";
        for (const std::size_t f : shown_files(report))
            html += confusion_matrix(report, report.files[f]);
    }
    return html;
}

/// Rows of a table of two columns: the values within `value`, each with the keys that lead to it.
std::string rows_of(const std::string& key, const Json& value) {
    if (!value.is_object())
        return "<tr>" + html_cell(key, true) + html_cell(evaluation::text_of(value), true) + "</tr>\n";
    std::string html;
    for (const auto& [name, inner] : value.items())
        html += rows_of(key.empty() ? name : key + ", " + name, inner);
    return html;
}

}  // namespace

std::string to_html(const EvaluationReport& report, const PageAdditions& additions) {
    const bool places = report.kind == Kind::promoters || report.kind == Kind::peaks;
    const Json& parameters = report.about["parameters"];
    std::string html = additions.lead + figures_html(report) +
                       fmt::format("<p>{} of split {}", counted(report.rows, "row"),
                                   escaped_html(text_of(report.about["split"])));
    if (report.kind == Kind::peaks && report.groups.front().mean_base_rate)
        html += "; AUPRC of random scores: " + share_text(*report.groups.front().mean_base_rate);
    if (parameters["resamples"] > 0 && report.files.front().figures.all.front().low) {
        html += fmt::format("; 95 % intervals from {} resampled {}", report.units,
                            escaped_html(parameters.value("resampled", "blocks of genome")));
    }
    html += ".";
    if (report.about.contains("negatives")) {
        html += " Negatives: " + escaped_html(text_of(report.about["negatives"])) +
                "; figures with other kinds of negatives must not be compared.";
    }
    html += "</p>\n" + additions.sections;
    html += report.kind == Kind::promoters ? promoter_html(report)
            : report.kind == Kind::peaks   ? peaks_html(report)
                                           : sequences_html(report);
    html += "<h2>Made from</h2><table class=made>" + rows_of("", additions.made_from) +
            rows_of("", report.about) + "</table>\n";
    if (places) html += "<script>\n" + std::string(page_script()) + "</script>";
    const std::string title =
        "Evaluation: " + (report.kind == Kind::coverage ? "coverage" : text_of(report.about["task"]));
    return page_html(additions.title.empty() ? title : additions.title, html);
}

}  // namespace bigbird::evaluation
