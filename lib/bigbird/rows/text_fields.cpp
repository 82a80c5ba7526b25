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
        if (end == std::string_view::npos) {
            return fields;
        }
        line.remove_prefix(end + 1);
    }
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
    return parse_number<std::int64_t>(text);
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
