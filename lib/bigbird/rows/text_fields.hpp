// SPDX-License-Identifier: Apache-2.0
// Splits lines into fields and parses them.
#pragma once

#include <array>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bigbird::rows {

/// Returns at least one field; the fields are views into `line`.
std::vector<std::string_view> split_fields(std::string_view line, char separator);
template <std::same_as<std::string> Text>
std::vector<std::string_view> split_fields(Text&& line, char separator) = delete;  // its views would dangle

/// The fields of a line of CSV (RFC 4180), or of a table of tabs with quoted texts as R and pandas write it,
/// without quotes, as views into `line`, whose quoted fields are rewritten. A quote within an unquoted field
/// is a letter. Returns nullopt if quotes do not match.
std::optional<std::vector<std::string_view>> split_quoted(std::string& line, char separator);

/// Whether a field is empty or one of the words for a missing value that R and pandas write, or that pandas
/// reads as one: NA, NaN, None, NULL, <NA>, N/A ...
bool is_missing(std::string_view field);

/// Appends a field of CSV, in quotes if it contains a comma, a quote or a line break.
void append_csv_field(std::string& line, std::string_view field);

/// The entire field as a number in C notation ("1e-3", "+.5"), else nullopt; no NaN, no infinity.
std::optional<double> parse_real(std::string_view text);

/// Letters to change, insert or delete to turn one text into the other.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// Appends a number with the fewest digits that read back as the same value, also "nan" and "-nan".
template <std::floating_point Number>
void append_exact(std::string& out, Number value) {
    std::array<char, 32> digits{};
    const auto result = std::to_chars(digits.data(), digits.data() + digits.size(), value);
    out.append(digits.data(), result.ptr);
}

/// The same, "NA" for NaN.
template <std::floating_point Number>
void append_number(std::string& out, Number value) {
    if (std::isnan(value))
        out += "NA";
    else
        append_exact(out, value);
}

}  // namespace bigbird::rows
