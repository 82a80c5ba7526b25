// SPDX-License-Identifier: Apache-2.0
#include "bigbird/rows/text_fields.hpp"

#include "bigbird/core/parse_number.hpp"

#include <array>
#include <charconv>
#include <cmath>

namespace bigbird::rows {

namespace {

template <typename Number>
void append_shortest(std::string& out, Number value) {
    if (std::isnan(value)) {
        out += "NA";
        return;
    }
    std::array<char, 32> digits{};
    const auto result = std::to_chars(digits.data(), digits.data() + digits.size(), value);
    out.append(digits.data(), result.ptr);
}

}  // namespace

std::vector<std::string_view> split_fields(std::string_view line, char separator) {
    std::vector<std::string_view> fields;
    while (true) {
        const std::size_t end = line.find(separator);
        fields.push_back(line.substr(0, end));
        if (end == std::string_view::npos) return fields;
        line.remove_prefix(end + 1);
    }
}

std::optional<std::vector<std::string_view>> split_csv(std::string& line) {
    if (line.find('"') == std::string::npos) return split_fields(line, ',');
    std::vector<std::string_view> fields;
    for (std::size_t at = 0; at <= line.size(); ++at) {
        const std::size_t begin = at;
        std::size_t end = begin;  // end of the field without its quotes
        bool quoted = false;
        for (; at < line.size() && (quoted || line[at] != ','); ++at)
            if (line[at] != '"')
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
    const auto value = parse_number<double>(text);
    return value && std::isfinite(*value) ? value : std::nullopt;
}

void append_number(std::string& out, float value) {
    append_shortest(out, value);
}

void append_number(std::string& out, double value) {
    append_shortest(out, value);
}

}  // namespace bigbird::rows
