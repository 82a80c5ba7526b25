// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/log.hpp"
#include "bigbird/evaluation/plot.hpp"
#include "bigbird/evaluation/sequences/sequence_evaluation.hpp"

#include <algorithm>

namespace bigbird::evaluation {

namespace {

constexpr std::size_t most_pictures = 12, most_classes_in_a_matrix = 50;

std::string number(const std::optional<double>& value) {
    return value ? fmt::format("{:.4g}", *value) : "NA";
}

std::string cell(const std::string& text) {
    return "<td>" + escaped_html(text) + "</td>";
}

std::string heading(const std::string& text) {
    return "<th>" + escaped_html(text) + "</th>";
}

std::string figures_table(const SequenceReport& report) {
    std::string html = "<h2>Figures</h2><table><tr><th></th>";
    for (const SequenceFile& file : report.files)
        html += heading(file.name);
    for (std::size_t f = 1; f < report.files.size(); ++f)
        html += heading(report.files[f].name + " \u2212 " + report.files.front().name);
    html += "</tr>\n";
    for (std::size_t i = 0; i < report.names.size(); ++i) {
        html += "<tr><td class=text>" + report.names[i] + "</td>";
        for (const SequenceFile& file : report.files)
            html += cell(brief(file.figures[i]));
        for (std::size_t f = 1; f < report.files.size(); ++f)
            html += cell(brief(report.files[f].differences[i]));
        html += "</tr>\n";
    }
    return html + "</table>\n";
}

std::string each_table(const SequenceReport& report, const SequenceFile& file) {
    std::string html = "<table><tr>" + heading(file.name);
    for (const std::string& name : report.names_of_each)
        html += heading(name);
    html += "</tr>\n";
    for (std::size_t label = 0; label < report.labels.size(); ++label) {
        html += "<tr><td class=text>" + escaped_html(report.labels[label].name) + "</td>";
        for (const std::optional<double>& value : file.each[label])
            html += cell(number(value));
        html += "</tr>\n";
    }
    return html + "</table>\n";
}

/// Rows of each class by called class. Darker cells have a larger share of the class.
std::string confusion_matrix(const SequenceReport& report, const SequenceFile& file) {
    std::string html = "<table class=confusion><tr>" + heading(file.name + ": class, called");
    for (std::size_t called = 0; called < report.labels.size(); ++called)
        html += heading(report.labels[called].name);
    html += "</tr>\n";
    for (std::size_t truth = 0; truth < file.confusion.size(); ++truth) {
        std::int64_t rows = 0;
        for (const std::int64_t count : file.confusion[truth])
            rows += count;
        html += "<tr><td class=text>" + escaped_html(report.labels[truth].name) + "</td>";
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

std::string roc_picture(const SequenceReport& report, std::size_t label) {
    Plot plot("ROC curve of " + report.labels[label].name, "false positive rate", "recall");
    plot.diagonal();
    for (std::size_t f = 0; f < report.files.size(); ++f) {
        std::vector<std::pair<double, double>> points{{0, 0}};
        for (const CurvePoint& point : report.files[f].picture.curves[label])
            points.emplace_back(point.false_positive_rate, point.recall);
        if (points.size() > 1) plot.line(points, file_colours[f % file_colours.size()]);
    }
    return plot.html();
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

std::string scatter(const SequenceReport& report, std::size_t file, std::size_t label) {
    const auto& points = report.files[file].picture.points[label];
    const Range range = range_of(points);
    Plot plot(report.files[file].name + ": " + report.labels[label].name + ", " +
                  std::to_string(points.size()) + " rows",
              "predicted", "true", range, range);
    plot.diagonal();
    for (const auto& [x, y] : points)
        plot.point(static_cast<double>(x), static_cast<double>(y), file_colours[file % file_colours.size()],
                   fmt::format("{:.4g}, {:.4g}", x, y), 2);
    return plot.html();
}

std::string pictures(const SequenceReport& report) {
    std::string html = "<h2>Pictures</h2>" + legend_html(report.files) + "<div class=pictures>";
    std::size_t drawn = 0;
    for (std::size_t label = 0; label < report.labels.size() && drawn < most_pictures; ++label) {
        if (report.target != examples::TargetKind::numbers) {
            html += roc_picture(report, label);
            ++drawn;
            continue;
        }
        for (std::size_t f = 0; f < report.files.size() && drawn < most_pictures; ++f, ++drawn)
            html += scatter(report, f, label);
    }
    return html + "</div>\n";
}

}  // namespace

std::string to_html(const SequenceReport& report, const PageAdditions& additions) {
    const std::string title =
        additions.title.empty() ? "Evaluation: sequences" : escaped_html(additions.title);
    std::string html = "<!doctype html>\n<html lang=en><meta charset=utf-8><title>" + title +
                       "</title><style>\n" + std::string(page_style()) + "</style>\n<h1>" + title +
                       "</h1>\n" + additions.lead + "<p>";
    html += fmt::format("{} rows of split {}", report.rows,
                        escaped_html(report.about["split"].get<std::string>()));
    const Json& parameters = report.about["parameters"];
    html += parameters["resamples"] > 0
                ? fmt::format("; 95 % intervals from {} resampled {}.", report.units,
                              escaped_html(parameters["resampled"].get<std::string>()))
                : ".";
    html += "</p>\n" + figures_table(report) + "<h2>By " +
            std::string(report.target == examples::TargetKind::classes  ? "class"
                        : report.target == examples::TargetKind::labels ? "label"
                                                                        : "number") +
            "</h2>\n";
    for (const SequenceFile& file : report.files)
        html += each_table(report, file);
    if (!report.files.front().confusion.empty() && report.labels.size() <= most_classes_in_a_matrix) {
        html += "<h2>Confusion</h2>\n";
        for (const SequenceFile& file : report.files)
            html += confusion_matrix(report, file);
    }
    return html + pictures(report) + additions.sections + about_html(report.about) + "</html>\n";
}

}  // namespace bigbird::evaluation
