// SPDX-License-Identifier: Apache-2.0
// Examples of coverage: bins of the genome with a number for each track.
#pragma once

#include "bigbird/core/choice.hpp"
#include "bigbird/examples/build/bin_regions.hpp"
#include "bigbird/examples/build/gc_negatives.hpp"
#include "bigbird/examples/build/signals/read_signal.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace bigbird::examples {

/// How a bin's value is computed from its bases' values. automatic: the sum for fragments' ends, else the
/// mean.
enum class Aggregate : std::uint8_t { automatic, mean, sum };
inline constexpr Choices<Aggregate, 3> aggregates{
    {{Aggregate::automatic, "auto"}, {Aggregate::mean, "mean"}, {Aggregate::sum, "sum"}}};

struct TrackOptions : BinRegionOptions {
    /// One sheet, or files that read_signal() takes. A sheet's header names the columns `name` and `path`,
    /// and may name `group`, `strand_pair` (the name of the track of the other strand), and `assay`, `count`,
    /// `shift`, `min_mapq`, `keep_duplicates` (yes or no) and `aggregate`, which replace the options below. A
    /// track of chip becomes two, NAME_plus and NAME_minus, a strand pair. Optional columns transform a bin's
    /// value in this order (Kelley and others 2018, Basenji): `scale` (a factor, or cpm: a million over the
    /// fragments), `soft_clip` (x above c becomes c - 1 + sqrt(x - c + 1)), `clip` (x above c becomes c).
    /// Files with the same name and group are added up; their rows must agree in all columns but `path`.
    std::vector<std::filesystem::path> signals{};
    SignalReading reading{};
    /// BED or narrowPeak: only bins in windows around them, and in those of `negatives`, become rows; all
    /// bins if there are none.
    std::vector<std::filesystem::path> peaks{};
    std::optional<Negatives> negatives{};  ///< by_gc
    std::int64_t peak_window = 2114;       ///< bases around a summit, as ChromBPNet reads them
    std::uint64_t seed = 0;                ///< of the draw of negatives

    /// Throws ConfigError.
    void validate() const;
};

/// Writes an example folder (FORMAT.md) of task chromatin and target numbers into the empty `folder`. Bins
/// begin at multiples of `bin`, are fully on their contig and less than half N; bases without signal count 0.
/// Bins whose window shares sequence with a window of another split are left out of one of them
/// (without_shared_windows). Logs what it did. Throws InputError and ConfigError, also if a bin's number is
/// negative or a track has no signal on the bins of train. Memory: 12 bytes per bin of the genome, and a
/// contig's sequence.
void build_tracks(const TrackOptions& options, const std::filesystem::path& folder);

}  // namespace bigbird::examples
