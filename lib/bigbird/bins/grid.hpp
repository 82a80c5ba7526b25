// SPDX-License-Identifier: Apache-2.0
// Positions of a bin model's windows on a contig, and the bins that an interval covers. Functions only of
// coordinates, so that a score never depends on what else is scored.
#pragma once

#include "bigbird/core/formats/json_file.hpp"

#include <cstdint>
#include <filesystem>
#include <vector>

namespace bigbird::bins {

/// Window k scores the core_bins() bins from k * core_bins() on, and reads margin_bins more on each side.
struct Grid {
    std::int64_t bin = 200, window_bins = 64, margin_bins = 8;

    std::int64_t core_bins() const { return window_bins - 2 * margin_bins; }
    std::int64_t window_bases() const { return window_bins * bin; }
    std::int64_t window_of(std::int64_t bin_number) const { return bin_number / core_bins(); }
    /// The first base that a window sees; may be negative.
    std::int64_t begin_of(std::int64_t window) const { return (window * core_bins() - margin_bins) * bin; }
    /// Index of a bin in its window, from 0 at the window's first bin.
    std::int64_t place_of(std::int64_t bin_number) const { return bin_number % core_bins() + margin_bins; }
    /// Throws ConfigError naming what does not fit.
    void validate() const;
    bool operator==(const Grid&) const = default;
};

Json to_json(const Grid& grid);
/// Throws InputError naming `where`.
Grid grid_from_json(const Json& json, const std::filesystem::path& where);

/// A bin and the share of an interval's bases in it.
struct BinShare {
    std::int64_t bin = 0;
    double weight = 0;
    bool operator==(const BinShare&) const = default;
};

/// The bins that [begin, end) overlaps, ascending; weights sum to 1. An empty interval takes the bin of base
/// `begin`. Needs 0 <= begin <= end.
std::vector<BinShare> shares_of(std::int64_t begin, std::int64_t end, std::int64_t bin);

}  // namespace bigbird::bins
