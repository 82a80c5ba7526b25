// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/genome/reference/reference_genome.hpp"
#include "bigbird/rows/window.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace bigbird::rows {

/// Finds the TSSs of a BED file by position, with the windows around them. Immutable; thread-safe.
class TssIndex {
public:
    struct Site {
        std::int64_t tss = 0;
        genome::Strand strand = genome::Strand::forward;
        std::string name;  ///< "contig:base" (1-based) if the file has no name
    };

    /// Leaves out rows on contigs that the reference lacks, or past a contig's end, with a warning. Throws
    /// InputError: a row without strand, a malformed line, no TSS left.
    TssIndex(const std::filesystem::path& tss, const genome::ReferenceGenome& reference,
             const WindowBounds& bounds);

    const WindowBounds& bounds() const { return bounds_; }
    /// The TSS nearest to the middle of [begin, end) among those whose windows contain it; the first in the
    /// genome among equal ones.
    const Site* nearest(std::size_t contig, std::int64_t begin, std::int64_t end) const;

private:
    WindowBounds bounds_;
    std::vector<std::vector<Site>> by_contig_;  ///< ascending
};

}  // namespace bigbird::rows
