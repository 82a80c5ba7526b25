// SPDX-License-Identifier: Apache-2.0
// Values of a bigWig, read in a child process, since libBigWig can crash on a damaged file.
#pragma once

#include "bigbird/genome/reference/interval.hpp"
#include "bigbird/outputs/sinks.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

namespace bigbird::outputs {

/// The segments of each contig, in the contigs' order; Segment::contig is an index in `contigs`. The file may
/// use another of a contig's usual names (genome::ContigNames); a contig that it lacks has none. Call it
/// where this process has one thread. Throws InputError.
std::vector<Segment> read_bigwig(const std::filesystem::path& path, std::span<const genome::Contig> contigs);

/// The mean over the bases of [begin, end) that have a value; nullopt if none has. `segments`: from
/// read_bigwig().
std::optional<double> mean_over(std::span<const Segment> segments, std::size_t contig, std::int64_t begin,
                                std::int64_t end);

}  // namespace bigbird::outputs
