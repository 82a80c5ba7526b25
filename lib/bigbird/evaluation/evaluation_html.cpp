// SPDX-License-Identifier: Apache-2.0
#include "bigbird/evaluation/evaluation_html.hpp"

#include "bigbird/core/log.hpp"

#include <array>
#include <functional>
#include <string_view>

namespace bigbird::evaluation {

// data/page.css and data/page.js, which come with the program. The script sorts the table of labels by the
// column clicked; a second click turns the order.
std::string_view page_style();
std::string_view page_script();

namespace {

constexpr std::array<const char*, 6> colours{"#1b6ca8", "#d1495b", "#2e8b57",
                                             "#8a5a9e", "#c98a1b", "#555555"};

std::string escaped(const std::string& text) {
    std::string result;
    for (const char letter : text) {
        switch (letter) {
            case '&':
                result += "&amp;";
                break;
            case '<':
                result += "&lt;";
                break;
            case '>':
                result += "&gt;";
                break;
            case '"':
                result += "&quot;";
                break;
            default:
                result += letter;
        }
    }
    return result;
}

std::string number(const std::optional<double>& value) {
    return value ? fmt::format("{:.4f}", *value) : "NA";
}

std::string cell(const std::string& text, bool left = false) {
    return (left ? "<td class=text>" : "<td>") + escaped(text) + "</td>";
}

/// A square of 0 to 1 on both axes.
class Plot {
public:
    Plot(std::string caption, const std::string& x, const std::string& y) : caption_(std::move(caption)) {
        body_ =
            fmt::format("<rect x={0} y={1} width={2} height={2} fill=none stroke='#999'/>", left, top, size);
        for (int tick = 0; tick <= 4; ++tick) {
            const double value = tick / 4.0;
            body_ += fmt::format(
                "<line x1={0:.1f} y1={1} x2={0:.1f} y2={2} stroke='#eee'/><text x={0:.1f} y={3} "
                "text-anchor=middle>{4:.2f}</text>",
                at_x(value), top, top + size, top + size + 14, value);
            body_ += fmt::format(
                "<line x1={0} y1={1:.1f} x2={2} y2={1:.1f} stroke='#eee'/><text x={3} y={4:.1f} "
                "text-anchor=end>{5:.2f}</text>",
                left, at_y(value), left + size, left - 4, at_y(value) + 4, value);
        }
        body_ += fmt::format("<text x={} y={} text-anchor=middle>{}</text>", left + size / 2, top + size + 30,
                             escaped(x));
        body_ += fmt::format("<text transform='translate(12 {}) rotate(-90)' text-anchor=middle>{}</text>",
                             top + size / 2, escaped(y));
    }
    void diagonal() {
        body_ += fmt::format("<line x1={} y1={} x2={} y2={} stroke='#bbb' stroke-dasharray='4 3'/>", at_x(0),
                             at_y(0), at_x(1), at_y(1));
    }
    void line(const std::vector<std::pair<double, double>>& points, const char* colour) {
        std::string path;
        for (const auto& [x, y] : points)
            path += fmt::format("{:.1f},{:.1f} ", at_x(x), at_y(y));
        body_ += fmt::format("<polyline points='{}' fill=none stroke='{}' stroke-width=1.8 />", path, colour);
    }
    void point(double x, double y, const char* colour, const std::string& title) {
        body_ += fmt::format(
            "<circle cx={:.1f} cy={:.1f} r=2.6 fill='{}' fill-opacity=.55><title>{}</title></circle>",
            at_x(x), at_y(y), colour, escaped(title));
    }
    void bar(double from, double to, double height, const char* colour) {
        body_ += fmt::format(
            "<rect x={:.1f} y={:.1f} width={:.1f} height={:.1f} fill='{}' fill-opacity=.5 />", at_x(from),
            at_y(height), at_x(to) - at_x(from) - 0.5, at_y(0) - at_y(height), colour);
    }
    std::string html() const {
        return fmt::format(
            "<figure><svg width={0} height={1} viewBox='0 0 {0} "
            "{1}'>{2}</svg><figcaption>{3}</figcaption></figure>\n",
            left + size + 14, top + size + 36, body_, escaped(caption_));
    }

private:
    static constexpr int left = 48, top = 10, size = 280;
    static double at_x(double value) { return left + value * size; }
    static double at_y(double value) { return top + size - value * size; }

    std::string caption_, body_;
};

std::string about_html(const EvaluationReport& report) {
    std::string html = "<h2>Made from</h2><dl>";
    for (const auto& [key, value] : report.about.items()) {
        html += "<dt>" + escaped(key) + "</dt><dd>" +
                escaped(value.is_string() ? value.get<std::string>() : value.dump()) + "</dd>";
    }
    return html + "</dl>\n";
}

std::string legend(const EvaluationReport& report) {
    if (report.files.size() < 2) return "";
    std::string html = "<p>";
    for (std::size_t i = 0; i < report.files.size(); ++i) {
        html += fmt::format("<span style='color:{}'>&#9632;</span> {} &nbsp; ", colours[i % colours.size()],
                            escaped(report.files[i].name));
    }
    return html + "</p>\n";
}

/// A point a tenth of the scores; on the diagonal they are the probabilities that they claim to be.
std::string reliability_picture(const EvaluationReport& report) {
    Plot plot("Reliability", "score", "share of positive rows");
    plot.diagonal();
    bool any = false;
    for (std::size_t i = 0; i < report.files.size(); ++i) {
        const auto& reliability = report.files[i].evaluation.reliability;
        if (!reliability) continue;
        any = true;
        const char* colour = colours[i % colours.size()];
        std::vector<std::pair<double, double>> points;
        for (const ReliabilityBin& bin : reliability->bins) {
            points.emplace_back(bin.mean_score, bin.positive_share);
            plot.point(bin.mean_score, bin.positive_share, colour,
                       fmt::format("{} rows, {:.4f} positive", bin.rows, bin.positive_share));
        }
        plot.line(points, colour);
    }
    return any ? plot.html() : "";
}

std::string difference_title(const EvaluationReport& report, const FileEvaluation& file) {
    return file.name + " \u2212 " + report.files.front().name;
}

std::string promoter_html(const EvaluationReport& report) {
    std::string html = "<h2>Figures</h2><table><tr><th></th>";
    for (const FileEvaluation& file : report.files)
        html += "<th>" + escaped(file.name) + "</th>";
    for (std::size_t i = 1; i < report.files.size(); ++i)
        html += "<th>" + escaped(difference_title(report, report.files[i])) + "</th>";
    html += "</tr>";
    const auto figures = [](const FileEvaluation& file) {
        return figures_of(file.evaluation.labels.front(), *file.evaluation.at_threshold);
    };
    const NamedFigures names = figures(report.files.front());
    for (std::size_t f = 0; f < names.size(); ++f) {
        html += "<tr>" + cell(names[f].first, true);
        for (const FileEvaluation& file : report.files)
            html += cell(brief(*figures(file)[f].second));
        for (std::size_t i = 1; i < report.files.size(); ++i)
            html += cell(brief(*differences_of(report.files[i])[f].second));
        html += "</tr>";
    }
    const std::pair<const char*, std::function<std::string(const ThresholdFigures&)>> counts[] = {
        {"threshold", [](const auto& at) { return number(at.threshold); }},
        {"true positives", [](const auto& at) { return std::to_string(at.counts.true_positives); }},
        {"false positives", [](const auto& at) { return std::to_string(at.counts.false_positives); }},
        {"true negatives", [](const auto& at) { return std::to_string(at.counts.true_negatives); }},
        {"false negatives", [](const auto& at) { return std::to_string(at.counts.false_negatives); }}};
    for (const auto& [name, text] : counts) {
        html += "<tr>" + cell(name, true);
        for (const FileEvaluation& file : report.files)
            html += cell(text(*file.evaluation.at_threshold));
        html += "</tr>";
    }
    html += "</table>\n<h2>Curves</h2>" + legend(report) + "<div class=pictures>";
    Plot roc("ROC", "false positive rate", "recall"),
        precision("Precision and recall", "recall", "precision");
    roc.diagonal();
    for (std::size_t i = 0; i < report.files.size(); ++i) {
        std::vector<std::pair<double, double>> up{{0, 0}}, across;
        for (const CurvePoint& point : report.files[i].evaluation.curve) {
            up.emplace_back(point.false_positive_rate, point.recall);
            across.emplace_back(point.recall, point.precision);
        }
        roc.line(up, colours[i % colours.size()]);
        precision.line(across, colours[i % colours.size()]);
    }
    html += roc.html() + precision.html() + reliability_picture(report) + "</div>\n";
    if (report.scan) {
        const ScanFigures& scan = *report.scan;
        html += fmt::format(
            "<h2>Scan</h2><p>{} calls in {:.2f} Mb, {} of them within reach of a TSS: {} false calls a Mb; "
            "{} of {} "
            "TSSs found.</p>\n",
            scan.calls, static_cast<double>(scan.scanned_bases) / 1e6, scan.right_calls,
            number(scan.false_calls_a_megabase), scan.found_tss, scan.tss);
    }
    return html;
}

std::string groups_html(const EvaluationReport& report) {
    std::string html =
        "<h2>Groups</h2><table><tr><th>group</th><th class=text>scores</th><th>labels</th><th>AUROC "
        "mean</th><th>AUROC "
        "median</th><th>AUPRC mean</th><th>AUPRC median</th><th>base rate</th></tr>";
    for (std::size_t g = 0; g < report.files.front().evaluation.groups.size(); ++g) {
        for (const FileEvaluation& file : report.files) {
            const GroupFigures& group = file.evaluation.groups[g];
            html += "<tr>" + cell(group.group, true) + cell(file.name, true) +
                    cell(std::to_string(group.defined) + " of " + std::to_string(group.labels));
            for (const auto& [name, figure] : figures_of(group))
                html += cell(brief(*figure));
            html += cell(number(group.mean_base_rate)) + "</tr>";
            if (!file.differences.empty()) {
                html +=
                    "<tr>" + cell(group.group, true) + cell(difference_title(report, file), true) + cell("");
                for (const auto& [name, figure] : differences_of(file, g))
                    html += cell(brief(*figure));
                html += cell("") + "</tr>";
            }
        }
    }
    return html + "</table>\n";
}

/// Shares of a group's labels by AUROC, in steps of 0.04.
std::string histogram(const EvaluationReport& report, const std::string& group) {
    constexpr std::size_t bins = 25;
    Plot plot(group + ": labels by AUROC", "AUROC", "share of labels");
    for (std::size_t i = 0; i < report.files.size(); ++i) {
        std::array<double, bins> counts{};
        double total = 0;
        for (const LabelFigures& label : report.files[i].evaluation.labels) {
            if (!label.roc_auc.value || (group != "all" && report.labels[label.label].group != group))
                continue;
            counts[std::min(bins - 1, static_cast<std::size_t>(*label.roc_auc.value * bins))] += 1;
            total += 1;
        }
        for (std::size_t bin = 0; bin < bins && total > 0; ++bin) {
            if (counts[bin] == 0) continue;
            plot.bar(static_cast<double>(bin) / bins, static_cast<double>(bin + 1) / bins,
                     counts[bin] / total, colours[i % colours.size()]);
        }
    }
    return plot.html();
}

std::string scatter(const EvaluationReport& report, const std::string& other,
                    const std::function<std::optional<double>(std::size_t)>& value) {
    const FileEvaluation& first = report.files.front();
    Plot plot("AUROC of each label", first.name, other);
    plot.diagonal();
    for (std::size_t l = 0; l < first.evaluation.labels.size(); ++l) {
        const LabelFigures& label = first.evaluation.labels[l];
        const auto y = value(l);
        if (label.roc_auc.value && y) {
            plot.point(*label.roc_auc.value, *y, colours[0], report.labels[label.label].name);
        }
    }
    return plot.html();
}

std::string labels_html(const EvaluationReport& report) {
    std::string html =
        "<h2>Labels</h2><table class=labels><thead><tr><th>index</th><th class=text>group</th><th "
        "class=text>name</th>"
        "<th>positives</th><th>base "
        "rate</th><th>AUROC</th><th>low</th><th>high</th><th>AUPRC</th><th>low</th><th>high</th>";
    for (std::size_t i = 1; i < report.files.size(); ++i) {
        html += "<th>AUROC " + escaped(report.files[i].name) + "</th>";
    }
    html += report.published.empty() ? "" : "<th>AUROC DeepSEA</th>";
    html += "</tr></thead><tbody>\n";
    const std::vector<LabelFigures>& labels = report.files.front().evaluation.labels;
    for (std::size_t l = 0; l < labels.size(); ++l) {
        const LabelFigures& label = labels[l];
        html += "<tr>" + cell(std::to_string(label.label)) + cell(report.labels[label.label].group, true) +
                cell(report.labels[label.label].name, true) + cell(std::to_string(label.positives)) +
                cell(number(label.base_rate));
        for (const Figure* figure : {&label.roc_auc, &label.average_precision}) {
            html += cell(number(figure->value)) + cell(number(figure->low)) + cell(number(figure->high));
        }
        for (std::size_t i = 1; i < report.files.size(); ++i) {
            html += cell(number(report.files[i].evaluation.labels[l].roc_auc.value));
        }
        if (!report.published.empty()) {
            const auto& known = report.published[label.label];
            html += cell(number(known ? known->roc_auc : std::nullopt));
        }
        html += "</tr>\n";
    }
    return html + "</tbody></table>\n";
}

std::string chromatin_html(const EvaluationReport& report) {
    std::string html = groups_html(report) + "<h2>Pictures</h2>" + legend(report) + "<div class=pictures>";
    for (const GroupFigures& group : report.files.front().evaluation.groups) {
        html += histogram(report, group.group);
    }
    for (std::size_t i = 1; i < report.files.size(); ++i) {
        const std::vector<LabelFigures>& others = report.files[i].evaluation.labels;
        html += scatter(report, report.files[i].name, [&](std::size_t l) { return others[l].roc_auc.value; });
    }
    if (!report.published.empty()) {
        html += scatter(report, "DeepSEA, published", [&](std::size_t l) -> std::optional<double> {
            const auto& known = report.published[report.files.front().evaluation.labels[l].label];
            return known ? known->roc_auc : std::nullopt;
        });
    }
    return html + reliability_picture(report) + "</div>\n" + labels_html(report);
}

}  // namespace

std::string to_html(const EvaluationReport& report) {
    const Evaluation& first = report.files.front().evaluation;
    const std::string task = report.about["task"].get<std::string>();
    std::string html =
        "<!doctype html>\n<html lang=en><meta charset=utf-8><title>Evaluation: " + escaped(task) +
        "</title><style>\n" + std::string(page_style()) + "</style>\n<h1>Evaluation: " + escaped(task) +
        "</h1>\n";
    html +=
        fmt::format("<p>{} rows of split {}", first.rows, escaped(report.about["split"].get<std::string>()));
    html += report.about["parameters"]["resamples"] > 0
                ? fmt::format("; 95 % intervals from {} resampled blocks of genome.", first.blocks)
                : ".";
    if (report.about.contains("negatives")) {
        html += " Negatives: " + escaped(report.about["negatives"].get<std::string>()) +
                "; figures with other kinds of negatives must not be compared.";
    }
    html +=
        "</p>\n" + (first.at_threshold ? promoter_html(report) : chromatin_html(report)) + about_html(report);
    return html + "<script>\n" + std::string(page_script()) + "</script></html>\n";
}

}  // namespace bigbird::evaluation
