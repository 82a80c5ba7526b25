// SPDX-License-Identifier: Apache-2.0
// One label per base, from the rows of a BED file whose column 4 names it: exon, intron, donor, repeat …
#pragma once

#include "bigbird/genome/reference/reference_genome.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bigbird::examples {

/// [begin, end) of a contig, every base of it with the label `label`.
struct LabelledSpan {
    std::int64_t begin = 0, end = 0;
    std::int32_t label = 0;
    bool operator==(const LabelledSpan&) const = default;
};

/// The label of bases without a row; a row may have it, too.
inline constexpr const char* none_label = "none";

/// Immutable; const calls are thread-safe. Labels belong to bases, not to strands: column 6 is ignored.
class BaseLabels {
public:
    /// none_label has index 0; the other labels follow in byte order. Throws InputError with file and line: a
    /// row without column 4, on a contig that the reference lacks or past its end, rows of different labels
    /// that overlap, no label but none_label.
    static BaseLabels read(const genome::ReferenceGenome& reference, const std::filesystem::path& bed);

    const std::vector<std::string>& names() const { return names_; }
    /// Line of the file that first has the label; 0 where none has it.
    std::int64_t first_line(std::size_t label) const { return first_lines_[label]; }
    /// Spans of a contig, sorted; spans of one label that touch or overlap are one. Bases between them have
    /// label 0.
    std::span<const LabelledSpan> spans(std::string_view contig) const;
    /// From the first to the last labeled base of each contig that has any.
    std::vector<genome::Interval> extents() const;
    /// The label of each base of `where`, which may extend beyond the contig.
    std::vector<std::int32_t> labels(const genome::Interval& where) const;
    /// How many bases of `where` have each label.
    std::vector<std::int64_t> counts(const genome::Interval& where) const;

private:
    std::vector<std::string> names_;
    std::vector<std::int64_t> first_lines_;
    std::map<std::string, std::vector<LabelledSpan>, std::less<>> contigs_;
};

}  // namespace bigbird::examples
