// SPDX-License-Identifier: Apache-2.0
// All parts of a work, checked against each other.
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

/// Consecutive records of the work from one part.
struct Piece {
    std::size_t part = 0;
    std::int64_t records = 0;
    bool operator==(const Piece&) const = default;
};

/// The parts by their numbers, whatever the order of `paths`. A part is a path that --shard was given as
/// --output. Sizes and checksums of all files are compared, on `threads` threads. Throws InputError naming
/// the part: no record beside it, one missing or given twice, of another run, without a segment that
/// the work has, truncated or changed.
std::vector<Part> open_parts(std::span<const std::filesystem::path> paths, int threads);

/// What is wrong with a part that holds more or fewer `records`, such as "lines", than its record counts.
InputError miscounted(const std::filesystem::path& part, const std::string& records);

/// In which order the parts' records make up the work. Throws InputError where two have one segment.
std::vector<Piece> order_of(std::span<const Part> parts);

}  // namespace bigbird
