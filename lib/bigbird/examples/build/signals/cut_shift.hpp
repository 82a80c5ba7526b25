// SPDX-License-Identifier: Apache-2.0
// By how many bases the ends of a file's reads were shifted already: by the motif that the enzyme prefers.
#pragma once

#include "bigbird/core/choice.hpp"
#include "bigbird/examples/build/signals/alignments.hpp"
#include "bigbird/genome/reference/reference_genome.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace bigbird::examples {

/// What was sequenced. atac and dnase: the base where Tn5 or DNase I cut, of both strands; chip: 5' ends, one
/// track per strand; coverage: each base of a read or fragment; none: as --count and --shift say.
enum class Assay : std::uint8_t { none, atac, dnase, chip, coverage };
inline constexpr Choices<Assay, 5> assays{{{Assay::none, "none"},
                                           {Assay::atac, "atac"},
                                           {Assay::dnase, "dnase"},
                                           {Assay::chip, "chip"},
                                           {Assay::coverage, "coverage"}}};

/// Offsets of 5' ends: of the first base of a read of the forward strand, and of the last base of one of the
/// reverse strand.
struct EndShift {
    std::int64_t begin = 0, end = 0;
    bool operator==(const EndShift&) const = default;
};

/// Counts of A, C, G and T, row by row, around a base, which is row `size / 2`.
template <std::size_t size>
using BaseCounts = std::array<std::array<double, 4>, size>;

/// What the ends of a file say of its shift.
struct ShiftFound {
    EndShift in_file{};      ///< the shift that the ends have
    EndShift applied{};      ///< the shift that moves them to the bases where the enzyme cut
    bool clear = false;      ///< false: there were too few sites, or no margin, and in_file is assumed
    double margin = 0;       ///< of the best shift above the second, in bits per site
    std::int64_t sites = 0;  ///< distinct sites on the strand with fewer of them
    /// Letters of the forward strand around the bases that count (`applied`), of ends of both strands; a site
    /// weighs the square root of its reads.
    BaseCounts<40> logo{};
};

/// Collects 5' ends, and finds their shift. Not thread-safe.
class CutSites {
public:
    /// Sites per strand that are enough.
    static constexpr std::int64_t enough_sites = 20'000;

    /// Takes the span's ends. Returns false when there are enough.
    bool add(const AlignedSpan& span);

    /// Compares the letters around the sites, position by position, with what the enzyme prefers: Tn5's motif
    /// for atac; for dnase, sites of the forward strand, since only ends of the reverse strand are ever
    /// shifted. atac: shifts are (0, 0), or 3 to 5 and -4 to -6; they are moved to (4, -4). dnase: (0, 0) or
    /// (0, 1); moved to (0, 1). The margin is clear if it is 10 / sqrt(sites) bits or more, five standard
    /// errors, and there are 1,000 sites per strand. Else the shift is assumed to be (0, 0). `given`: the
    /// shift to apply instead, if any.
    ShiftFound find(Assay assay, const genome::ReferenceGenome& reference,
                    const EndShift* given = nullptr) const;

private:
    using Sites = std::map<std::pair<std::size_t, std::int64_t>, std::int64_t>;  // contig and base; reads
    static constexpr std::size_t width = 64;

    BaseCounts<width> around(const Sites& sites, const genome::ReferenceGenome& reference) const;

    Sites forward_, reverse_;
    std::int64_t spans_ = 0;
};

}  // namespace bigbird::examples
