// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/log.hpp"
#include "bigbird/evaluation/sequences/sequence_evaluation.hpp"
#include "bigbird/rows/score_table.hpp"
#include "bigbird/rows/text_fields.hpp"

namespace bigbird::evaluation {

namespace {

void put(Json& object, const std::string& name, const Figure& figure) {
    object[name] = number(figure.value);
    object[name + "_low"] = number(figure.low);
    object[name + "_high"] = number(figure.high);
}

/// Adds a file's details besides its figures.
void put_details(Json& object, const SequenceReport& report, const SequenceFile& file) {
    Json each = Json::array();
    for (std::size_t i = 0; i < file.each.size(); ++i) {
        Json one{{"index", i}, {"name", report.labels[i].name}};
        for (std::size_t f = 0; f < report.names_of_each.size(); ++f)
            one[report.names_of_each[f]] = number(file.each[i][f]);
        each.push_back(std::move(one));
    }
    object[std::string(word_of(examples::target_choices, report.target))] = std::move(each);
    if (!file.confusion.empty()) object["confusion"] = file.confusion;
}

}  // namespace

Json to_json(const SequenceReport& report) {
    Json json = report.about;
    const SequenceFile& first = report.files.front();
    for (std::size_t i = 0; i < report.names.size(); ++i)
        put(json, report.names[i], first.figures[i]);
    put_details(json, report, first);
    for (std::size_t f = 1; f < report.files.size(); ++f) {
        const SequenceFile& file = report.files[f];
        Json other{{"name", file.name}};
        for (std::size_t i = 0; i < report.names.size(); ++i) {
            put(other, report.names[i], file.figures[i]);
            put(other["difference"], report.names[i], file.differences[i]);
        }
        put_details(other, report, file);
        json["others"].push_back(std::move(other));
    }
    return json;
}

std::string to_tsv(const SequenceReport& report) {
    std::string text;
    for (const auto& [key, value] : report.about.items())
        text += "##" + key + "=" + (value.is_string() ? value.get<std::string>() : value.dump()) + "\n";
    for (const SequenceFile& file : report.files)
        if (!file.confusion.empty())
            text += "##confusion " + file.name + "=" + Json(file.confusion).dump() + "\n";
    text += "figure\tof\tvalue\tlow\thigh";
    for (std::size_t f = 1; f < report.files.size(); ++f) {
        const std::string name = rows::without_breaks(report.files[f].name);
        text += '\t' + name + '\t' + name + "_low\t" + name +
                "_high\tdifference\tdifference_low\tdifference_high";
    }
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
        fmt::format("{} rows of split {}", report.rows, report.about["split"].get<std::string>())};
    const Json& parameters = report.about["parameters"];
    if (parameters["resamples"] > 0) {
        lines.back() += fmt::format(", 95 % intervals from {} {}", report.units,
                                    parameters["resampled"].get<std::string>());
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

std::unique_ptr<genome::TextOutput> write_report(const SequenceReport& report,
                                                 const std::filesystem::path& output, Overwrite overwrite) {
    const std::string name = output.string();
    auto out = std::make_unique<genome::TextOutput>(output, overwrite);
    out->write(name.ends_with(".tsv") || name.ends_with(".tsv.gz") ? to_tsv(report)
               : rows::names_csv(output)                           ? rows::csv_of(to_tsv(report), output)
               : name.ends_with(".html")                           ? to_html(report)
                                                                   : to_json(report).dump(2) + "\n");
    return out;
}

}  // namespace bigbird::evaluation
