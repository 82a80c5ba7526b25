// SPDX-License-Identifier: Apache-2.0
// All parts of a job, checked against each other.
#pragma once

#include "bigbird/core/error.hpp"
#include "bigbird/core/parts/part_record.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace bigbird {

struct Part {
    std::filesystem::path path;
    PartRecord record;
};

/// Consecutive records of the job from one part.
struct Piece {
    std::size_t part = 0;
    std::int64_t records = 0;
    bool operator==(const Piece&) const = default;
};

/// The parts in the order of their numbers, whatever the order of `paths`. A part is the --output of a
/// command with --shard. Sizes and checksums of all files are compared, on `threads` threads. Throws
/// InputError naming the part: no record beside it, one missing or given twice, of another run, lacking a
/// segment of the job, truncated or changed.
std::vector<Part> open_parts(std::span<const std::filesystem::path> paths, int threads);

/// The error for a part that holds more or fewer `records`, such as "lines", than its part record says.
InputError miscounted(const std::filesystem::path& part, const std::string& records);

/// The order in which the parts' records form the complete output. Throws InputError if two parts have the
/// same segment.
std::vector<Piece> order_of(std::span<const Part> parts);

}  // namespace bigbird
