// SPDX-License-Identifier: Apache-2.0
// A window's position around a TSS, a bin or a summit.
#pragma once

#include "bigbird/genome/reference/interval.hpp"
#include "bigbird/genome/regions/bed.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace bigbird::rows {

/// Offsets [begin, end) relative to a base, in the direction of transcription: -5000:3000 is 8,000 bases,
/// -249:51 is 300.
struct WindowBounds {
    std::int64_t begin = -5000, end = 3000;
    std::int64_t size() const { return end - begin; }
    bool operator==(const WindowBounds&) const = default;
};
/// The bounds of a window of `size` bases around a base, as in genome::window_around.
constexpr WindowBounds centred_bounds(std::int64_t size) {
    return {-(size / 2), size - size / 2};
}
/// Maximum number of bases that a model reads at once: more than any network here can read, but little
/// memory.
constexpr std::int64_t longest_window = std::int64_t{1} << 24;

/// "A:B" with A < B, at most longest_window apart. Throws ConfigError.
WindowBounds parse_window_bounds(std::string_view text);
std::string to_string(const WindowBounds& bounds);

/// The TSS base of a BED row: its first base, or its last on the minus strand.
std::int64_t tss_of(const genome::Interval& where, genome::Strand strand);
/// The window around a TSS base; mirrored on the minus strand.
genome::Interval window_about_tss(const std::string& contig, std::int64_t tss, genome::Strand strand,
                                  const WindowBounds& bounds);

/// The base of a BED row that a window is placed around. `automatic`: `tss` for rows of one base, else
/// `centre`. `centre`: the middle, as in genome::window_around with the window's size, on either strand; for
/// a row as long as the window, the window is the row. `tss`: tss_of and the bounds. `summit`: begin +
/// narrowPeak's column 10 instead of the middle, or the middle without one. `itself`: the window is the row,
/// whatever the bounds.
enum class Anchor : std::uint8_t { automatic, centre, tss, summit, itself };

genome::Interval window_of(const genome::BedRecord& record, Anchor anchor, const WindowBounds& bounds);

}  // namespace bigbird::rows
