// SPDX-License-Identifier: Apache-2.0
// Joins parts of a corpus of tokens (tokenize --shard).
#pragma once

#include "bigbird/core/files.hpp"
#include "bigbird/core/parts/part_set.hpp"
#include "bigbird/corpus/tokens/token_shards.hpp"

#include <filesystem>
#include <memory>
#include <span>
#include <vector>

namespace bigbird::corpus {

/// The record of a part, written beside its folder (which TokenShardWriter::finish() returned). Pass it to
/// commit_together() before the folder. Throws WriteError.
std::unique_ptr<PendingOutput> pending_tokens_record(PendingOutput& directory, const Shard& shard,
                                                     std::int64_t shard_tokens,
                                                     std::vector<PartSegment> segments);

/// Opens parts as open_parts does, and compares all files of their folders with their manifests. Throws
/// InputError naming what differs.
std::vector<Part> open_token_parts(std::span<const std::filesystem::path> paths, int threads);

/// Writes byte for byte the folder that one run writes. Throws InputError if a part holds other documents
/// than its record counts, WriteError.
void merge_tokens(std::span<const Part> parts, const std::filesystem::path& output, Overwrite overwrite,
                  int threads);

}  // namespace bigbird::corpus
