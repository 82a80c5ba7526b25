// SPDX-License-Identifier: Apache-2.0
// Files of one value along the genome: bedGraph and bigWig.
#pragma once

#include "bigbird/core/files.hpp"
#include "bigbird/genome/reference/interval.hpp"
#include "bigbird/outputs/output_spec.hpp"
#include "bigbird/outputs/sinks.hpp"

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace bigbird::outputs {

/// Calls `take` with segments of contigs that do not overlap, in order.
using EachSegment = std::function<void(const std::function<void(const Segment&)>& take)>;

/// Not thread-safe.
class TrackFile {
public:
    virtual ~TrackFile() = default;
    /// In the file's order; Segment::contig is an index into them.
    const std::vector<genome::Contig>& contigs() const { return contigs_; }
    /// Writes all segments, and adds the file to `pending` (Sink::finish). Throws WriteError.
    virtual void write(const EachSegment& each, std::vector<PendingOutput*>& pending) = 0;

protected:
    explicit TrackFile(std::vector<genome::Contig> contigs) : contigs_(std::move(contigs)) {}
    std::vector<genome::Contig> contigs_;
};

/// A file of `kind` bedgraph or bigwig. Throws ConfigError for a contig that is too long for bigWig.
std::unique_ptr<TrackFile> track_file(const std::filesystem::path& path, Overwrite overwrite, Kind kind,
                                      std::span<const genome::Contig> contigs);

}  // namespace bigbird::outputs
