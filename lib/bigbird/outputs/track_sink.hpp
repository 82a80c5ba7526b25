// SPDX-License-Identifier: Apache-2.0
// Scores of one label along the genome, for browsers.
#pragma once

#include "bigbird/core/files.hpp"
#include "bigbird/genome/reference/interval.hpp"
#include "bigbird/outputs/table_schema.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace bigbird::outputs {

/// A file of `kind` bedgraph or bigwig. Takes rows in any order and keeps them, at 16 bytes each, until
/// commit, which sorts them by contig (the order of `contigs`) and position. The first three fields of the
/// head must be contig (or an alias), begin and end. Rows that were not scored, have no bases or are on none
/// of the contigs are left out. `column` chooses the value.
std::unique_ptr<Sink> track_sink(const std::filesystem::path& path, Overwrite overwrite, Kind kind,
                                 std::span<const genome::Contig> contigs, std::size_t column,
                                 Overlap overlap);

/// A value over [begin, end) of a contig.
struct Segment {
    std::uint32_t contig = 0, begin = 0, end = 0;
    float value = 0;
    bool operator==(const Segment&) const = default;
};
/// Sorts segments and passes on segments that cover the same bases without overlaps, in order.
void without_overlaps(std::vector<Segment>& segments, Overlap overlap,
                      const std::function<void(const Segment&)>& take);

}  // namespace bigbird::outputs
