// SPDX-License-Identifier: Apache-2.0
// Score tables as the tests of scoring read them.
#pragma once

#include "support/testing.hpp"

#include "bigbird/rows/text_fields.hpp"

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

namespace bigbird::testing {

using TableRows = std::vector<std::vector<std::string>>;

/// The fields of the lines that do not begin with `comment`: "##" leaves the header, "#" only rows.
inline TableRows read_rows(const std::filesystem::path& table, std::string_view comment) {
    TableRows rows;
    std::istringstream text(read_file(table));
    for (std::string line; std::getline(text, line);) {
        if (line.starts_with(comment)) continue;
        rows.emplace_back();
        for (const std::string_view field : rows::split_fields(line, '\t'))
            rows.back().emplace_back(field);
    }
    return rows;
}

}  // namespace bigbird::testing
