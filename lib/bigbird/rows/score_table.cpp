// SPDX-License-Identifier: Apache-2.0
#include "bigbird/rows/score_table.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parse_number.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/rows/row.hpp"
#include "bigbird/rows/text_fields.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace bigbird::rows {

namespace {

constexpr std::size_t head_columns = region_columns.size();

std::optional<float> parse_score(std::string_view text) {
    if (text == "NA" || text == "nan" || text.empty()) return std::numeric_limits<float>::quiet_NaN();
    const std::optional<float> value = parse_number<float>(text);
    return value && !std::isnan(*value) ? value : std::nullopt;
}

}  // namespace

std::string without_breaks(std::string text) {
    for (char& letter : text)
        letter = letter == '\t' || letter == '\n' || letter == '\r' ? ' ' : letter;
    return text;
}

std::string provenance_lines(const Provenance& provenance) {
    std::string text;
    for (const auto& [key, value] : provenance)
        text += "##" + without_breaks(key) + "=" + without_breaks(value) + "\n";
    return text;
}

std::string value_of(const Provenance& provenance, std::string_view key) {
    for (const auto& [name, value] : provenance)
        if (name == key) return value;
    return {};
}

bool names_csv(const std::filesystem::path& path) {
    const std::string name = path.string();
    return name.ends_with(".csv") || name.ends_with(".csv.gz") || name.ends_with(".csv.bgz");
}

std::string csv_line(std::string_view line, bool header) {
    if (header && line.starts_with('#')) line.remove_prefix(1);
    std::string csv;
    for (const std::string_view field : split_fields(line, '\t')) {
        const bool missing = !header && (field == "." || field == "NA");
        append_csv_field(csv, missing ? "" : field);
        csv += ',';
    }
    csv.pop_back();
    return csv;
}

std::string csv_of(std::string_view table, const std::filesystem::path& path) {
    std::string csv, comments;
    while (!table.empty()) {
        const std::string_view line = table.substr(0, table.find('\n'));
        table.remove_prefix(std::min(table.size(), line.size() + 1));
        if (line.starts_with("##"))
            comments += (comments.empty() ? "" : "; ") + std::string(line.substr(2));
        else
            csv += csv_line(line, csv.empty()) + '\n';
    }
    if (!comments.empty()) log_info("{}: {}", path.string(), comments);
    return csv;
}

ScoreReader::ScoreReader(const std::filesystem::path& path) : input_(path) {
    while (input_.next(line_)) {
        if (line_.starts_with("##")) {
            const std::size_t equals = line_.find('=');
            if (equals != std::string::npos)
                provenance_.emplace_back(line_.substr(2, equals - 2), line_.substr(equals + 1));
            continue;
        }
        csv_ = !line_.starts_with('#');
        if (!csv_) line_.erase(0, 1);
        const bool table = split_line(line_, csv_, fields_) && fields_.size() >= head_columns &&
                           std::ranges::equal(std::span(fields_).first(head_columns), region_columns);
        if (!table) break;
        columns_.assign(fields_.begin() + head_columns, fields_.end());
        return;
    }
    throw input_.fault(
        "is no score table: a header '#chrom start end name score strand status n_fraction ...', "
        "tab-separated, is needed, or the same as CSV without #");
}

bool ScoreReader::next(ScoreRow& row, std::vector<float>& values) {
    do {
        if (!input_.next(line_)) return false;
    } while (line_.empty());
    if (!split_line(line_, csv_, fields_)) throw input_.fault("has a quote that does not end on the line");
    const std::size_t expected = head_columns + columns_.size();
    if (fields_.size() != expected) {
        throw input_.fault("has " + counted(fields_.size(), "column") + " where the header has " +
                           std::to_string(expected));
    }
    const auto text = [&](std::size_t i) { return std::string(fields_[i].empty() ? "." : fields_[i]); };
    row = {text(0), text(1), text(2), text(3), text(4), text(5), text(6), 0};
    const auto n_fraction = parse_real(fields_[7]);
    if (!n_fraction && fields_[7] != "NA" && !fields_[7].empty())
        throw input_.fault("n_fraction '" + shortened(fields_[7]) + "' is neither a number nor NA");
    row.n_fraction = n_fraction.value_or(std::numeric_limits<double>::quiet_NaN());
    values.resize(columns_.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto value = parse_score(fields_[head_columns + i]);
        if (!value) {
            throw input_.fault("score '" + shortened(fields_[head_columns + i]) + "' in column " +
                               columns_[i] + " is neither a number nor NA");
        }
        values[i] = *value;
    }
    return true;
}

}  // namespace bigbird::rows
