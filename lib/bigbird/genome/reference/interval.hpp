// SPDX-License-Identifier: Apache-2.0
// Coordinates are 0-based and half-open everywhere inside the program.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace bigbird::genome {

struct Contig {
    std::string name;
    std::int64_t length = 0;
};

/// Maximum length of a contig. Coordinates in files are checked against it, so that sums of a few of them do
/// not overflow.
inline constexpr std::int64_t longest_contig = std::int64_t{1} << 40;

enum class Strand : char { forward = '+', reverse = '-', none = '.' };

/// [begin, end) on a contig. For windows that extend beyond the contig's ends, begin may be negative and end
/// past the contig.
struct Interval {
    std::string contig;
    std::int64_t begin = 0, end = 0;

    std::int64_t size() const { return end - begin; }
    auto operator<=>(const Interval&) const = default;
};

/// Reads a samtools region, 1-based and closed: "22", "22:16050001", "22:16,050,001-17,000,000". Without an
/// end, end is max int64. Throws ConfigError.
Interval parse_region(std::string_view text);

/// `width` bases around the middle: [c - width/2, c - width/2 + width) with c = floor((begin + end) / 2).
Interval window_around(const Interval& where, std::int64_t width);

/// "22:16050000-16050200", 0-based half-open, for messages.
std::string to_string(const Interval& where);

}  // namespace bigbird::genome
