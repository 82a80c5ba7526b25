// SPDX-License-Identifier: Apache-2.0
#include "bigbird/genome/reference/interval.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/parse_number.hpp"
#include "bigbird/genome/reference/region_text.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <system_error>

namespace bigbird::genome {

namespace {

constexpr std::int64_t last_position = std::numeric_limits<std::int64_t>::max();

[[noreturn]] void refuse(std::string_view text, const std::string& why) {
    throw ConfigError("region '" + std::string(text) + "': " + why +
                      "; write CONTIG, CONTIG:START or CONTIG:START-END, 1-based and closed, as in "
                      "22:16,050,001-17,000,000");
}

/// Parses a position with or without thousands separators; nullopt for other text.
std::optional<std::int64_t> parse_position(std::string_view text) {
    std::string digits;
    for (const char letter : text)
        if (letter != ',') digits += letter;
    const std::optional<std::int64_t> value = parse_number<std::int64_t>(digits);
    return value && *value >= 0 && text.front() != ',' ? value : std::nullopt;
}

/// Whether the text after the last colon is meant as positions. Names of contigs may contain colons, too
/// (HLA-A*01:01:01:01), and no position but 0 begins with a zero.
bool looks_like_positions(std::string_view text) {
    const bool padded = text.size() > 1 && text[0] == '0' && text[1] >= '0' && text[1] <= '9';
    return !text.empty() && !padded && text.find_first_not_of("0123456789,-") == std::string_view::npos;
}

}  // namespace

Interval parse_region(std::string_view text) {
    Interval region{std::string(text), 0, last_position};
    std::string_view positions;
    if (text.starts_with('{')) {  // samtools' way to quote a name
        const std::size_t close = text.find('}');
        if (close == std::string_view::npos || (close + 1 < text.size() && text[close + 1] != ':'))
            refuse(text, "'{' is not closed by '}' or '}:'");
        region.contig = text.substr(1, close - 1);
        positions = close + 2 <= text.size() ? text.substr(close + 2) : std::string_view();
        if (close + 2 <= text.size() && !looks_like_positions(positions))
            refuse(text, "no positions stand behind the colon");
    } else if (const std::size_t colon = text.rfind(':');
               colon != std::string_view::npos && looks_like_positions(text.substr(colon + 1))) {
        region.contig = text.substr(0, colon);
        positions = text.substr(colon + 1);
    }
    if (region.contig.empty()) refuse(text, "the contig is missing");
    if (positions.empty()) return region;
    const std::size_t dash = std::min(positions.find('-'), positions.size());
    if (dash > 0) {
        const auto begin = parse_position(positions.substr(0, dash));
        if (!begin || *begin < 1) refuse(text, "the start is no position from 1 up");
        region.begin = *begin - 1;
    }
    if (dash + 1 < positions.size()) {
        const auto end = parse_position(positions.substr(dash + 1));
        if (!end) refuse(text, "the end is no position");
        region.end = *end;
    }
    if (region.begin >= region.end) refuse(text, "the end lies before the start");
    return region;
}

bool is_region_text(const std::filesystem::path& value) {
    std::error_code ignored;
    return value != "-" && value.string().find_first_of("/ ") == value.string().find(' ') &&
           !std::filesystem::exists(std::filesystem::symlink_status(value, ignored));
}

Interval window_around(const Interval& where, std::int64_t width) {
    const std::int64_t sum = where.begin + where.end;
    const std::int64_t centre = sum / 2 - (sum < 0 && sum % 2 != 0 ? 1 : 0);
    const std::int64_t begin = centre - width / 2;
    return {where.contig, begin, begin + width};
}

std::string to_string(const Interval& where) {
    return where.contig + ":" + std::to_string(where.begin) + "-" + std::to_string(where.end);
}

}  // namespace bigbird::genome
