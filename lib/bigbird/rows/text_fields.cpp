// SPDX-License-Identifier: Apache-2.0
#include "bigbird/rows/text_fields.hpp"

#include "bigbird/core/parse_number.hpp"

#include <algorithm>
#include <numeric>

namespace bigbird::rows {

std::vector<std::string_view> split_fields(std::string_view line, char separator) {
    std::vector<std::string_view> fields;
    while (true) {
        const std::size_t end = line.find(separator);
        fields.push_back(line.substr(0, end));
        if (end == std::string_view::npos) return fields;
        line.remove_prefix(end + 1);
    }
}

std::optional<std::vector<std::string_view>> split_quoted(std::string& line, char separator) {
    if (line.find('"') == std::string::npos) return split_fields(line, separator);
    std::vector<std::string_view> fields;
    for (std::size_t at = 0; at <= line.size(); ++at) {
        const std::size_t begin = at;
        std::size_t end = begin;  // end of the field without its quotes
        bool quoted = false;
        for (; at < line.size() && (quoted || line[at] != separator); ++at)
            if (line[at] != '"' || (!quoted && at > begin))
                line[end++] = line[at];
            else if (quoted && at + 1 < line.size() && line[at + 1] == '"')
                line[end++] = line[at++];
            else
                quoted = !quoted;
        if (quoted) return std::nullopt;
        fields.push_back(std::string_view(line).substr(begin, end - begin));
    }
    return fields;
}

bool is_missing(std::string_view field) {
    static constexpr std::string_view words[] = {
        "",     "NA",   "N/A",  "n/a", "NaN", "nan",    "-NaN",    "-nan",    "NULL",    "null",
        "None", "<NA>", "#N/A", "#NA", "NaT", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"};
    const std::size_t begin = std::min(field.find_first_not_of(' '), field.size());
    return std::ranges::count(words, field.substr(begin, field.find_last_not_of(' ') + 1 - begin)) > 0;
}

void append_csv_field(std::string& line, std::string_view field) {
    if (field.find_first_of(",\"\r\n") == std::string_view::npos) {
        line += field;
        return;
    }
    line += '"';
    for (const char letter : field)
        line.append(letter == '"' ? 2 : 1, letter);
    line += '"';
}

std::optional<double> parse_real(std::string_view text) {
    if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
    const auto value = parse_number<double>(text);
    return value && std::isfinite(*value) ? value : std::nullopt;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t corner = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t change = corner + (a[i - 1] == b[j - 1] ? 0 : 1);
            corner = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, change});
        }
    }
    return row.back();
}

}  // namespace bigbird::rows
