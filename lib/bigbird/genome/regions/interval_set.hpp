// SPDX-License-Identifier: Apache-2.0
// Sets of bases, for regions to include, exclude or hold out, and for peaks over bins.
#pragma once

#include "bigbird/genome/reference/interval.hpp"
#include "bigbird/genome/reference/reference_genome.hpp"
#include "bigbird/genome/regions/assembly_fit.hpp"
#include "bigbird/genome/regions/bed.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bigbird::genome {

/// [begin, end) on a contig that the context names.
struct Span {
    std::int64_t begin = 0, end = 0;
    bool operator==(const Span&) const = default;
};

/// A set of bases, as sorted spans per contig that neither overlap nor touch (as `bedtools merge` gives
/// them). Contigs are compared by exact names: put them on a reference first (place). Empty intervals contain
/// nothing. Const calls are thread-safe. A query takes logarithmic time, plus time proportional to the spans
/// that it meets.
class IntervalSet {
public:
    IntervalSet() = default;
    explicit IntervalSet(std::span<const Interval> intervals);

    bool empty() const { return contigs_.empty(); }
    /// Total number of bases.
    std::int64_t bases() const;
    /// Spans of a contig, in order; empty if it has none.
    std::span<const Span> spans(std::string_view contig) const;
    /// All spans as intervals, in the order of contig names.
    std::vector<Interval> intervals() const;

    bool overlaps(const Interval& where) const;
    /// Whether all of `where` is in the set. An empty interval is in the set if the base at its begin is.
    bool contains(const Interval& where) const;

    IntervalSet united(const IntervalSet& other) const;
    IntervalSet intersected(const IntervalSet& other) const;
    IntervalSet without(const IntervalSet& other) const;

private:
    std::map<std::string, std::vector<Span>, std::less<>> contigs_;
};

/// Returns whether `where` is on the reference. Renames its contig to the reference's name if it is an alias.
Fit place(Interval& where, const ReferenceGenome& reference);

/// Why a region is not on the reference, for a message about one that is not.
std::string why_off(const Interval& where, const ReferenceGenome& reference);

/// The records of a BED file on contigs of a reference, with the reference's contig names. Other records are
/// counted and dropped. Throws InputError if a line is malformed.
struct PlacedBed {
    std::vector<BedRecord> records;
    AssemblyFit fit;
};
PlacedBed read_bed_on(const ReferenceGenome& reference, const std::filesystem::path& path);

/// The rows of --regions (BedReader's), on the reference. Others are counted, and named in a warning; throws
/// InputError if they are too many (require_assembly).
std::vector<BedRecord> read_regions_on(const ReferenceGenome& reference, const std::filesystem::path& path,
                                       const std::string& option = "--regions");

/// The bases of a contig or a region (parse_region), cut at the contig's end. A text that is a contig's name
/// means this contig. Throws ConfigError naming `option` if the reference lacks the bases, or if the text is
/// one contig's name and also a region of another.
Interval region_on(const ReferenceGenome& reference, const std::string& text, const std::string& option);

/// The bases that `texts` name, each a contig ("22"), a region as in samtools ("22:16,000,001-17,000,000") or
/// a BED file, whose intervals are cut at contig ends; those on contigs that the reference lacks are left
/// out, with one warning. Throws InputError if a line is malformed. A name that is both a contig and a file
/// is the contig. Throws ConfigError naming `option` if a text is none of these or is past a contig's end.
IntervalSet read_region_set(const ReferenceGenome& reference, std::span<const std::string> texts,
                            const std::string& option);

}  // namespace bigbird::genome
