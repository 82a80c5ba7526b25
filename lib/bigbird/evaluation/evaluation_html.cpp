// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/log.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/evaluation/evaluation_report.hpp"
#include "bigbird/evaluation/plot.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

namespace bigbird::evaluation {

namespace {

std::string four_digits(const std::optional<double>& value) {
    return value ? fmt::format("{:.4f}", *value) : "NA";
}

std::string number_cell(const std::optional<double>& value) {
    return html_cell(four_digits(value));
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
        if (!file.evaluation.reliability) continue;
        for (const ReliabilityBin& bin : merged(file.evaluation.reliability->bins, least)) {
            ends.push_back(bin.mean_score);
            ends.push_back(bin.positive_share);
        }
    }
    if (ends.size() == 1) return "";
    const Range range = range_of(ends);
    Plot plot(
        fmt::format("Reliability. Numbers: rows per point; tenths of the scores with fewer than {} rows are "
                    "joined with their neighbors.",
                    least),
        "mean score", "share of positive rows", range, range);
    plot.diagonal();
    for (std::size_t i = 0; i < report.files.size(); ++i) {
        const auto& reliability = report.files[i].evaluation.reliability;
        if (!reliability) continue;
        const char* colour = colour_of(i);
        PlotLine points;
        for (const ReliabilityBin& bin : merged(reliability->bins, least)) {
            points.emplace_back(bin.mean_score, bin.positive_share);
            plot.point(bin.mean_score, bin.positive_share, colour,
                       fmt::format("{}, {:.4f} positive", counted(bin.rows, "row"), bin.positive_share),
                       1.5 + 0.9 * std::log10(static_cast<double>(bin.rows)));
            plot.words(bin.mean_score, bin.positive_share, std::to_string(bin.rows), colour,
                       10 * static_cast<int>(i));
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
PlotLine mean_precision(const std::vector<LabelFigures>& labels) {
    constexpr int parts = 50;
    PlotLine points;
    for (int part = 1; part <= parts; ++part) {
        const double recall = static_cast<double>(part) / parts;
        double sum = 0, count = 0;
        for (const LabelFigures& label : labels) {
            const auto at =
                std::find_if(label.curve.begin(), label.curve.end(),
                             [&](const CurvePoint& point) { return point.recall >= recall - 1e-9; });
            if (at == label.curve.end()) continue;
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

/// The mean of all labels, then the labels with the most positives.
std::string precision_pictures(const EvaluationReport& report) {
    constexpr std::size_t most = 12;
    const std::vector<LabelFigures>& labels = report.files.front().evaluation.labels;
    std::vector<std::size_t> order;
    double base_rate = 0;
    for (std::size_t l = 0; l < labels.size(); ++l) {
        if (labels[l].curve.empty()) continue;
        order.push_back(l);
        base_rate += labels[l].base_rate;
    }
    if (order.empty()) return "";
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return labels[a].positives > labels[b].positives; });
    std::string html =
        "<h2>Precision and recall</h2>" + legend_html(names_of(report.files)) + "<div class=pictures>";
    std::vector<PlotLine> lines;
    for (const FileEvaluation& file : report.files)
        lines.push_back(mean_precision(file.evaluation.labels));
    html +=
        precision_picture(fmt::format("Mean of {}. Dashes: mean base rate.", counted(order.size(), "label")),
                          base_rate / static_cast<double>(order.size()), lines);
    for (std::size_t n = 0; n < std::min(most, order.size()); ++n) {
        const LabelFigures& label = labels[order[n]];
        for (std::size_t i = 0; i < lines.size(); ++i)
            lines[i] = precision_of(report.files[i].evaluation.labels[order[n]].curve);
        html += precision_picture(
            fmt::format("{}: {}. Dashes: base rate {:.4f}.", report.labels[label.label].name,
                        counted(label.positives, "positive"), label.base_rate),
            label.base_rate, lines);
    }
    html += "</div>\n";
    if (order.size() > most)
        html += fmt::format("<p>The {} labels with the most positives, of {}.</p>\n", most, order.size());
    return html;
}

/// The threshold of each file's F1 and accuracy.
std::string thresholds_html(const EvaluationReport& report) {
    std::string html =
        "<p>F1, precision, recall, MCC and accuracy count scores from a threshold on as positive: ";
    bool differ = false;
    for (std::size_t i = 0; i < report.files.size(); ++i) {
        const FileEvaluation& file = report.files[i];
        const double threshold = file.evaluation.at_threshold->threshold;
        html += fmt::format("{}{} {:.4g} ({})", i > 0 ? ", " : "", escaped_html(file.name), threshold,
                            escaped_html(file.threshold_rule));
        differ = differ || threshold != report.files.front().evaluation.at_threshold->threshold;
    }
    return html + (differ ? ". <b>These thresholds differ</b>; AUROC and AUPRC need none.</p>\n" : ".</p>\n");
}

std::string difference_title(const EvaluationReport& report, const FileEvaluation& file) {
    return file.name + " \u2212 " + report.files.front().name;
}

std::string promoter_html(const EvaluationReport& report) {
    std::string html = "<h2>Figures</h2>" + thresholds_html(report) + files_head(names_of(report.files));
    const NamedFigures names = figures_of(report.files.front().evaluation);
    for (std::size_t f = 0; f < names.size(); ++f) {
        html += "<tr>" + html_cell(names[f].first, true);
        for (const FileEvaluation& file : report.files)
            html += html_cell(brief(*figures_of(file.evaluation)[f].second));
        for (std::size_t i = 1; i < report.files.size(); ++i)
            html += html_cell(brief(*figures_of(*report.files[i].difference)[f].second));
        html += "</tr>";
    }
    const std::pair<const char*, std::function<std::string(const ThresholdFigures&)>> counts[] = {
        {"threshold", [](const auto& at) { return four_digits(at.threshold); }},
        {"true positives", [](const auto& at) { return std::to_string(at.counts.true_positives); }},
        {"false positives", [](const auto& at) { return std::to_string(at.counts.false_positives); }},
        {"true negatives", [](const auto& at) { return std::to_string(at.counts.true_negatives); }},
        {"false negatives", [](const auto& at) { return std::to_string(at.counts.false_negatives); }}};
    for (const auto& [name, text] : counts) {
        html += "<tr>" + html_cell(name, true);
        for (const FileEvaluation& file : report.files)
            html += html_cell(text(*file.evaluation.at_threshold));
        html += "</tr>";
    }
    html += "</table>\n<h2>Curves</h2>" + legend_html(names_of(report.files)) + "<div class=pictures>";
    Plot roc("ROC", "false positive rate", "recall"),
        precision("Precision and recall. Dashes: base rate.", "recall", "precision");
    roc.diagonal();
    precision.level(report.files.front().evaluation.labels.front().base_rate);
    for (std::size_t i = 0; i < report.files.size(); ++i) {
        PlotLine up{{0, 0}};
        const std::vector<CurvePoint>& curve = report.files[i].evaluation.labels.front().curve;
        for (const CurvePoint& point : curve)
            up.emplace_back(point.false_positive_rate, point.recall);
        roc.line(up, colour_of(i));
        precision.line(precision_of(curve), colour_of(i));
    }
    html += roc.html() + precision.html() + reliability_picture(report) + "</div>\n";
    if (report.scan) {
        const ScanFigures& scan = *report.scan;
        html += fmt::format(
            "<h2>Scan</h2><p>{} calls in {:.2f} Mb, {} of them within reach of a TSS: {} false calls per Mb; "
            "{} of {} "
            "TSSs found.</p>\n",
            scan.calls, static_cast<double>(scan.scanned_bases) / 1e6, scan.right_calls,
            four_digits(scan.false_calls_a_megabase), scan.found_tss, scan.tss);
    }
    return html;
}

std::string groups_html(const EvaluationReport& report) {
    std::string html =
        "<h2>Groups</h2><table class=sortable><thead><tr><th class=text>group</th><th "
        "class=text>scores</th><th>labels</th><th>AUROC "
        "mean</th><th>AUROC "
        "median</th><th>AUPRC mean</th><th>AUPRC median</th><th>base rate</th></tr></thead><tbody>";
    for (std::size_t g = 0; g < report.files.front().evaluation.groups.size(); ++g) {
        for (const FileEvaluation& file : report.files) {
            const GroupFigures& group = file.evaluation.groups[g];
            html += "<tr>" + html_cell(group.group, true) + html_cell(file.name, true) +
                    html_cell(std::to_string(group.defined) + " of " + std::to_string(group.labels));
            for (const auto& [name, figure] : figures_of(group))
                html += html_cell(brief(*figure));
            html += number_cell(group.mean_base_rate) + "</tr>";
            if (file.difference) {
                html += "<tr>" + html_cell(group.group, true) +
                        html_cell(difference_title(report, file), true) + html_cell("");
                for (const auto& [name, figure] : figures_of(file.difference->groups[g]))
                    html += html_cell(brief(*figure));
                html += html_cell("") + "</tr>";
            }
        }
    }
    return html + "</tbody></table>\n";
}

/// Shares of a group's labels by AUROC, in steps of 0.02, over the existing values.
std::string histogram(const EvaluationReport& report, const std::string& group) {
    constexpr double width = 0.02;
    std::vector<std::map<int, double>> shares;
    std::vector<double> values, heights;
    for (const FileEvaluation& file : report.files) {
        std::map<int, double> counts;
        double total = 0;
        for (const LabelFigures& label : file.evaluation.labels) {
            if (!label.roc_auc.value || (group != "all" && report.labels[label.label].group != group))
                continue;
            values.push_back(*label.roc_auc.value);
            counts[std::min(49, static_cast<int>(*label.roc_auc.value / width))] += 1;
            total += 1;
        }
        for (auto& [bin, count] : counts) {
            count /= total;
            heights.push_back(count);
        }
        shares.push_back(std::move(counts));
    }
    const double most = heights.empty() ? 1 : *std::max_element(heights.begin(), heights.end());
    Plot plot(group + ": labels by AUROC", "AUROC", "share of labels", range_of(values),
              Range{0, most}.rounded());
    for (std::size_t i = 0; i < shares.size(); ++i)
        for (const auto& [bin, share] : shares[i])
            plot.bar(bin * width, (bin + 1) * width, share, colour_of(i));
    return plot.html();
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
    for (std::size_t l = 0; l < first.evaluation.labels.size(); ++l) {
        const LabelFigures& label = first.evaluation.labels[l];
        const auto y = value(l);
        if (!label.roc_auc.value || !y) continue;
        points.push_back({*label.roc_auc.value, *y, report.labels[label.label].name});
        ends.insert(ends.end(), {*label.roc_auc.value, *y});
    }
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
    std::string html =
        "<h2>Labels</h2><table class='labels sortable'><thead><tr><th>index</th><th class=text>group</th><th "
        "class=text>name</th>"
        "<th>positives</th><th>base "
        "rate</th><th>AUROC</th><th>low</th><th>high</th><th>AUPRC</th><th>low</th><th>high</th>";
    for (std::size_t i = 1; i < report.files.size(); ++i) {
        html += html_heading("AUROC " + report.files[i].name) +
                html_heading("AUPRC " + report.files[i].name) +
                html_heading("AUROC " + difference_title(report, report.files[i]));
    }
    html += report.published.empty() ? "" : "<th>AUROC DeepSEA</th><th>AUPRC DeepSEA</th>";
    html += "</tr></thead><tbody>\n";
    const std::vector<LabelFigures>& labels = report.files.front().evaluation.labels;
    for (std::size_t l = 0; l < labels.size(); ++l) {
        const LabelFigures& label = labels[l];
        html += "<tr>" + html_cell(std::to_string(label.label)) +
                html_cell(report.labels[label.label].group, true) +
                html_cell(report.labels[label.label].name, true) +
                html_cell(std::to_string(label.positives)) + number_cell(label.base_rate);
        for (const Figure* figure : {&label.roc_auc, &label.average_precision})
            html += number_cell(figure->value) + number_cell(figure->low) + number_cell(figure->high);
        for (std::size_t i = 1; i < report.files.size(); ++i) {
            const LabelFigures& other = report.files[i].evaluation.labels[l];
            html += number_cell(other.roc_auc.value) + number_cell(other.average_precision.value) +
                    html_cell(brief(report.files[i].difference->labels[l].roc_auc));
        }
        if (!report.published.empty()) {
            const rows::PublishedFigures known = published_of(report, label.label);
            html += number_cell(known.roc_auc) + number_cell(known.average_precision);
        }
        html += "</tr>\n";
    }
    return html + "</tbody></table>\n";
}

std::string chromatin_html(const EvaluationReport& report, const std::string& sections) {
    std::string html = groups_html(report) + sections + "<h2>Pictures</h2>" +
                       legend_html(names_of(report.files)) + "<div class=pictures>";
    for (const GroupFigures& group : report.files.front().evaluation.groups)
        html += histogram(report, group.group);
    for (std::size_t i = 1; i < report.files.size(); ++i) {
        const std::vector<LabelFigures>& others = report.files[i].evaluation.labels;
        html += scatter(report, report.files[i].name, [&](std::size_t l) { return others[l].roc_auc.value; });
    }
    if (!report.published.empty()) {
        const std::vector<LabelFigures>& labels = report.files.front().evaluation.labels;
        html += scatter(report, "DeepSEA, published",
                        [&](std::size_t l) { return published_of(report, labels[l].label).roc_auc; });
    }
    return html + reliability_picture(report) + "</div>\n" + precision_pictures(report) + labels_html(report);
}

}  // namespace

std::string to_html(const EvaluationReport& report, const PageAdditions& additions) {
    const Evaluation& first = report.files.front().evaluation;
    std::string html =
        additions.lead + opening_html(report.about, first.rows, first.blocks, "blocks of genome");
    if (report.about.contains("negatives")) {
        html += " Negatives: " + escaped_html(report.about["negatives"].get<std::string>()) +
                "; figures with other kinds of negatives must not be compared.";
    }
    html += "</p>\n" +
            (first.at_threshold ? promoter_html(report) : chromatin_html(report, additions.sections)) +
            about_html(report.about) + "<script>\n" + std::string(page_script()) + "</script>";
    const std::string title = "Evaluation: " + report.about["task"].get<std::string>();
    return page_html(additions.title.empty() ? title : additions.title, html);
}

}  // namespace bigbird::evaluation
