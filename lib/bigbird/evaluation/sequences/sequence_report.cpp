// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/log.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/evaluation/plot.hpp"
#include "bigbird/evaluation/sequences/sequence_evaluation.hpp"
#include "bigbird/rows/score_table.hpp"
#include "bigbird/rows/text_fields.hpp"

#include <algorithm>

namespace bigbird::evaluation {

namespace {

constexpr std::size_t most_pictures = 12, most_classes_in_a_matrix = 50;

std::string shown(const std::optional<double>& value) {
    return value ? fmt::format("{:.4g}", *value) : "NA";
}

std::string figures_table(const SequenceReport& report) {
    std::string html = "<h2>Figures</h2>" + files_head(names_of(report.files)) + "\n";
    for (std::size_t i = 0; i < report.names.size(); ++i) {
        html += "<tr>" + html_cell(report.names[i], true);
        for (const SequenceFile& file : report.files)
            html += html_cell(brief(file.figures[i]));
        for (std::size_t f = 1; f < report.files.size(); ++f)
            html += html_cell(brief(report.files[f].differences[i]));
        html += "</tr>\n";
    }
    return html + "</table>\n";
}

std::string each_table(const SequenceReport& report, const SequenceFile& file) {
    std::string html = "<table><tr>" + html_heading(file.name);
    for (const std::string& name : report.names_of_each)
        html += html_heading(name);
    html += "</tr>\n";
    for (std::size_t label = 0; label < report.labels.size(); ++label) {
        html += "<tr>" + html_cell(report.labels[label].name, true);
        for (const std::optional<double>& value : file.each[label])
            html += html_cell(shown(value));
        html += "</tr>\n";
    }
    return html + "</table>\n";
}

/// Rows of each class by called class. Darker cells have a larger share of the class.
std::string confusion_matrix(const SequenceReport& report, const SequenceFile& file) {
    std::string html = "<table class=confusion><tr>" + html_heading(file.name + ": class, called");
    for (std::size_t called = 0; called < report.labels.size(); ++called)
        html += html_heading(report.labels[called].name);
    html += "</tr>\n";
    for (std::size_t truth = 0; truth < file.confusion.size(); ++truth) {
        std::int64_t rows = 0;
        for (const std::int64_t count : file.confusion[truth])
            rows += count;
        html += "<tr>" + html_cell(report.labels[truth].name, true);
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
        PlotLine points{{0, 0}};
        for (const CurvePoint& point : report.files[f].picture.curves[label])
            points.emplace_back(point.false_positive_rate, point.recall);
        if (points.size() > 1) plot.line(points, colour_of(f));
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
    Plot plot(
        report.files[file].name + ": " + report.labels[label].name + ", " + counted(points.size(), "row"),
        "predicted", "true", range, range);
    plot.diagonal();
    for (const auto& [x, y] : points)
        plot.point(static_cast<double>(x), static_cast<double>(y), colour_of(file),
                   fmt::format("{:.4g}, {:.4g}", x, y), 2);
    return plot.html();
}

std::string pictures(const SequenceReport& report) {
    std::string html = "<h2>Pictures</h2>" + legend_html(names_of(report.files)) + "<div class=pictures>";
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

void put_bounds(Json& object, const std::string& name, const Figure& figure) {
    object[name] = number(figure.value);
    object[name + "_low"] = number(figure.low);
    object[name + "_high"] = number(figure.high);
}

/// A file's figures, of all rows and of each class, label or number.
void put_file(Json& object, const SequenceReport& report, const SequenceFile& file) {
    for (std::size_t i = 0; i < report.names.size(); ++i) {
        put_bounds(object, report.names[i], file.figures[i]);
        if (!file.differences.empty()) put_bounds(object["difference"], report.names[i], file.differences[i]);
    }
    Json& each = object[std::string(word_of(examples::target_choices, report.target))] = Json::array();
    for (std::size_t i = 0; i < file.each.size(); ++i) {
        Json& one = each.emplace_back(Json{{"index", i}, {"name", report.labels[i].name}});
        for (std::size_t f = 0; f < report.names_of_each.size(); ++f)
            one[report.names_of_each[f]] = number(file.each[i][f]);
    }
    if (!file.confusion.empty()) object["confusion"] = file.confusion;
}

}  // namespace

std::string to_html(const SequenceReport& report, const PageAdditions& additions) {
    const bool coverage = report.about["task"] == "chromatin";
    std::string html =
        additions.lead + opening_html(report.about, report.rows, report.units,
                                      report.about["parameters"]["resampled"].get<std::string>());
    html += "</p>\n" + figures_table(report) + "<h2>By " +
            std::string(report.target == examples::TargetKind::classes  ? "class"
                        : report.target == examples::TargetKind::labels ? "label"
                        : coverage                                      ? "track"
                                                                        : "number") +
            "</h2>\n";
    for (const SequenceFile& file : report.files)
        html += each_table(report, file);
    if (!report.files.front().confusion.empty() && report.labels.size() <= most_classes_in_a_matrix) {
        html += "<h2>Confusion</h2>\n";
        for (const SequenceFile& file : report.files)
            html += confusion_matrix(report, file);
    }
    html += report.regions + pictures(report) + additions.sections + about_html(report.about);
    const std::string title = coverage ? "Evaluation: coverage" : "Evaluation: sequences";
    return page_html(additions.title.empty() ? title : additions.title, html);
}

Json to_json(const SequenceReport& report) {
    Json json = report.about;
    put_file(json, report, report.files.front());
    for (std::size_t f = 1; f < report.files.size(); ++f) {
        Json& other = json["others"].emplace_back(Json{{"name", report.files[f].name}});
        put_file(other, report, report.files[f]);
    }
    return json;
}

std::string to_tsv(const SequenceReport& report) {
    std::string text = about_lines(report.about);
    for (const SequenceFile& file : report.files)
        if (!file.confusion.empty())
            text += "##confusion " + file.name + "=" + Json(file.confusion).dump() + "\n";
    text += "figure\tof\tvalue\tlow\thigh";
    for (std::size_t f = 1; f < report.files.size(); ++f)
        text += difference_columns(rows::without_breaks(report.files[f].name));
    text += '\n';
    for (std::size_t i = 0; i < report.names.size(); ++i) {
        text += report.names[i] + "\tall\t" + cells(report.files.front().figures[i]);
        for (std::size_t f = 1; f < report.files.size(); ++f)
            text += '\t' + cells(report.files[f].figures[i]) + '\t' + cells(report.files[f].differences[i]);
        text += '\n';
    }
    for (std::size_t label = 0; label < report.labels.size(); ++label) {
        for (std::size_t i = 0; i < report.names_of_each.size(); ++i) {
            text += report.names_of_each[i] + '\t' + report.labels[label].name + '\t' +
                    cells({report.files.front().each[label][i], {}, {}});
            for (std::size_t f = 1; f < report.files.size(); ++f)
                text += '\t' + cells({report.files[f].each[label][i], {}, {}}) + "\tNA\tNA\tNA";
            text += '\n';
        }
    }
    return text;
}

std::vector<std::string> to_lines(const SequenceReport& report) {
    std::vector<std::string> lines{
        fmt::format("{} of split {}", counted(report.rows, "row"), report.about["split"].get<std::string>())};
    const Json& parameters = report.about["parameters"];
    if (parameters["resamples"] > 0) {
        lines.back() += fmt::format(", 95 % intervals from {} {}", report.units,
                                    parameters["resampled"].get<std::string>());
        if (parameters.contains("block_size"))
            lines.back() += fmt::format(" of {} bp", parameters["block_size"].get<std::int64_t>());
    }
    for (const SequenceFile& file : report.files) {
        const std::string which = report.files.size() > 1 ? file.name + ": " : "";
        for (std::size_t i = 0; i < report.names.size(); ++i)
            lines.push_back(fmt::format("{}{:<9} {}", which, report.names[i], brief(file.figures[i])));
    }
    const std::size_t main = report.target == examples::TargetKind::numbers ? 0 : 1;  // Pearson's r, MCC
    for (std::size_t f = 1; f < report.files.size(); ++f) {
        lines.push_back(fmt::format("{} - {}: {} {}", report.files[f].name, report.files.front().name,
                                    report.names[main], brief(report.files[f].differences[main])));
    }
    return lines;
}

}  // namespace bigbird::evaluation
