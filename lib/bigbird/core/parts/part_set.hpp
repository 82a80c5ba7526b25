// SPDX-License-Identifier: Apache-2.0
// All parts of a job, checked against each other.
#pragma once

#include "bigbird/core/error.hpp"
#include "bigbird/core/files.hpp"
#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/core/parts/shard.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace bigbird {

// FILE.part.json, written beside an output FILE that holds one part of a job (--shard), so that merge can
// join parts (lib/bigbird/examples/FORMAT.md, "Parts").

/// A segment of the job, and the number of its records (rows, lines, documents) in a file.
struct PartSegment {
    std::int64_t number = 0, records = 0;
    bool operator==(const PartSegment&) const = default;
};

struct PartRecord {
    std::string kind;  ///< "rows", "VCF", "BCF", "documents", "tokens"
    Shard shard{};
    Json run{};                           ///< what all parts of a job have in common
    Json counts{};                        ///< counts that add up over the parts; may be empty
    std::vector<PartSegment> segments{};  ///< ascending; some may have no records
    std::string name{}, sha256{};         ///< of the output; sum and size of a folder: its manifest.json's
    std::uintmax_t bytes = 0;
};

/// The total number of records in all segments.
std::int64_t records_of(const PartRecord& record);

/// FILE.part.json; a slash at the end of FILE, as shells add to folders, is ignored.
std::filesystem::path part_record_path(const std::filesystem::path& output);

/// Throws ConfigError if `output` is a stream, which cannot be read again: standard output, a pipe, a device.
void require_part_is_file(const std::filesystem::path& output);

/// Deletes the part record of an output that is about to be overwritten, or is complete.
void remove_part_record(const std::filesystem::path& output);

/// Fills in name, size and checksum of the complete `output`, and writes the record beside it. Pass the
/// result to commit_together() before it. Throws WriteError, InputError if the output cannot be read.
std::unique_ptr<PendingOutput> pending_part_record(PartRecord record, const PendingOutput& output);

/// Throws InputError if there is no such output, no record beside it, or the record belongs to another
/// output.
PartRecord read_part_record(const std::filesystem::path& output);

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
/// command with --shard. Sizes and checksums are compared, on `threads` threads. Throws
/// InputError naming the part: no record beside it, one missing or given twice, of another run, lacking a
/// segment of the job, truncated or changed.
std::vector<Part> open_parts(std::span<const std::filesystem::path> paths, int threads);

/// The error for a part that holds more or fewer `records`, such as "lines", than its part record says.
InputError miscounted(const std::filesystem::path& part, const std::string& records);

/// The order in which the parts' records form the complete output. Throws InputError if two parts have the
/// same segment.
std::vector<Piece> order_of(std::span<const Part> parts);

}  // namespace bigbird
