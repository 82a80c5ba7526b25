// SPDX-License-Identifier: Apache-2.0
// Reports of evaluations: JSON, tables, lines for people, pages for browsers.
#pragma once

#include "bigbird/core/files.hpp"
#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/evaluation/evaluation.hpp"
#include "bigbird/genome/text/text_output.hpp"
#include "bigbird/rows/score_table.hpp"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace bigbird::evaluation {

/// "0.912 [0.880, 0.934]"; NA where undefined.
std::string brief(const Figure& figure);
/// A base rate or another share with three decimals, or as many as its first two digits need: "0.00031".
std::string share_text(double share);
/// null where undefined.
Json number(const std::optional<double>& value);
/// Sets KEY, and KEY_interval to [low, high].
void put(Json& object, const std::string& key, const Figure& figure);
/// A cell of a table, NA where undefined; and value, low and high, with `separator` between them.
std::string cell(const std::optional<double>& value);
std::string cells(const Figure& figure, char separator = '\t');
/// A value of `about` as text.
std::string text_of(const Json& value);

/// A label's published figures, none where it has none. Only where `published` is not empty.
rows::PublishedFigures published_of(const EvaluationReport& report, std::size_t label);

/// Everything. Undefined figures are null. Of places with labels: an interval is [low, high]. Else the
/// figures of the first file are at the top level, each a number, with NAME_low and NAME_high beside it.
Json to_json(const EvaluationReport& report);
/// `##key=value` lines (about, confusion, and `##group` lines for peaks), then a table: one line per label
/// for peaks, else one per figure, and one per class, label or number; NA where undefined.
std::string to_tsv(const EvaluationReport& report);
/// A few lines for people.
std::vector<std::string> to_lines(const EvaluationReport& report);

/// Additions to a page. HTML: `lead` follows the title, `sections` follow the figures.
struct PageAdditions {
    std::string title{};  ///< as text; empty: "Evaluation: TASK"
    std::string lead{}, sections{};
    Json made_from = Json::object();  ///< the first rows of the table of inputs and options
};
/// A self-contained HTML page: figures with intervals, the first file in the last column; plots (SVG),
/// confusion matrices, and for several labels of peaks a sortable table of them. Nothing that would be empty.
/// Equal reports give equal bytes.
std::string to_html(const EvaluationReport& report, const PageAdditions& additions = {});

/// Writes a report: TSV where the name ends in .tsv, CSV where it ends in .csv (each also .gz), a page for
/// browsers where it ends in .html and there are pages, else JSON; "-" is JSON on standard output. Does not
/// commit the file. Throws ConfigError, WriteError.
template <typename Report>
std::unique_ptr<genome::TextOutput> write_report(const Report& report, const std::filesystem::path& output,
                                                 Overwrite overwrite) {
    const std::string name = output.string();
    auto out = std::make_unique<genome::TextOutput>(output, overwrite);
    const auto text = [&]() -> std::string {
        if (name.ends_with(".tsv") || name.ends_with(".tsv.gz")) return to_tsv(report);
        if (rows::names_csv(output)) return rows::csv_of(to_tsv(report), output);
        if constexpr (requires { to_html(report); })
            if (name.ends_with(".html")) return to_html(report);
        return to_json(report).dump(2) + "\n";
    };
    out->write(text());
    return out;
}

}  // namespace bigbird::evaluation
