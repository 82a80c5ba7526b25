// SPDX-License-Identifier: Apache-2.0
// Cutting and reading fields of lines.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bigbird::rows {

/// At least one field; views into `line`.
std::vector<std::string_view> split_fields(std::string_view line, char separator);

/// A whole field as a decimal integer, else nothing.
std::optional<std::int64_t> parse_integer(std::string_view text);

/// A whole field as a number in C notation ("1e-3" too), else nothing; no NaN, no infinity.
std::optional<double> parse_real(std::string_view text);

/// The fewest digits that read back as the same value; "NA" for NaN.
void append_number(std::string& out, float value);
void append_number(std::string& out, double value);

}  // namespace bigbird::rows
