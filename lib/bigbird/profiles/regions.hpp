// SPDX-License-Identifier: Apache-2.0
// Where profile models look: windows about the summits of peaks, and windows of background.
#pragma once

#include "bigbird/examples/build/bin_regions.hpp"
#include "bigbird/examples/examples.hpp"
#include "bigbird/genome/reference/reference_genome.hpp"

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace bigbird::profiles {

/// The base that a window of `size` is about: it covers [centre - size / 2, centre - size / 2 + size).
struct Region {
    std::uint32_t contig = 0;  ///< index in the reference
    std::int64_t centre = 0;
    auto operator<=>(const Region&) const = default;
};

/// Summits of narrowPeak files, or the middles of BED rows, on the reference, sorted, each once. Rows off the
/// reference are counted in a warning. Throws InputError.
std::vector<Region> read_summits(std::span<const std::filesystem::path> paths,
                                 const genome::ReferenceGenome& reference);

/// Share of the contigs with summits that windows of `size` about them cover.
double covered_share(std::span<const Region> summits, const genome::ReferenceGenome& reference,
                     std::int64_t size);

/// Regions by split (index: examples::Split). A window and its jitter lie on their contig and within what
/// --include and --exclude admit; windows of different splits share no base.
struct SplitRegions {
    std::array<std::vector<Region>, 3> peaks{}, background{};

    const std::vector<Region>& of(examples::Split split, bool peak) const {
        return (peak ? peaks : background)[static_cast<std::size_t>(split)];
    }
};

/// At most `most` regions, evenly chosen, in order.
std::vector<Region> some_of(std::span<const Region> regions, std::size_t most);

struct RegionOptions {
    std::int64_t window = 2114;
    std::int64_t jitter = 0;  ///< maximum shift of a training peak's window to either side
    double background = 2;    ///< windows of background per peak, as far as there are any
    std::uint64_t seed = 0;
};

/// Sorts summits into splits, and draws background of like GC content outside of all peaks' windows. Logs the
/// numbers. Throws InputError if a split has no peak, or train no background.
SplitRegions make_regions(const examples::BinRegions& regions, std::span<const Region> summits,
                          const RegionOptions& options);

}  // namespace bigbird::profiles
