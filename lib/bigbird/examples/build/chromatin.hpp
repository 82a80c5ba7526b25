// SPDX-License-Identifier: Apache-2.0
// Chromatin examples: 200-bp bins of the genome, labeled by the peaks that cover them.
#pragma once

#include "bigbird/examples/build/bin_regions.hpp"
#include "bigbird/examples/build/gc_negatives.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace bigbird::examples {

struct ChromatinOptions : BinRegionOptions {
    std::vector<std::filesystem::path> peaks{};  ///< read_label_files
    std::int64_t window = 8000;
    /// Only bins with a label become rows, and this number of bins without one per row, drawn at random by
    /// contig; by_gc: drawn for each split by the GC of their windows, among bins without a peak. Not set:
    /// all bins.
    std::optional<Negatives> negatives{};
    std::uint64_t seed = 0;     ///< seed of that draw
    bool skip_invalid = false;  ///< build however many peaks do not fit the reference
    int threads = 1;

    /// Throws ConfigError.
    void validate() const;
};

/// Writes an example folder (FORMAT.md) into the empty `folder`. Bins begin at multiples of `bin` and are
/// fully on their contig. A bin has a label where the union of the label's peaks covers more than half of it.
/// Rows are in the reference's order; bins whose window shares sequence with a window of another split are
/// left out of one of them (without_shared_windows). Peaks outside the reference are left out and counted.
/// Logs what it did. Throws InputError and ConfigError, also if no peak, bin or label is left. Memory: all
/// peaks, one contig's bins, and the labels of all rows.
void build_chromatin(const ChromatinOptions& options, const std::filesystem::path& folder);

}  // namespace bigbird::examples
