// SPDX-License-Identifier: Apache-2.0
// Parts of a corpus of tokens (tokenize --shard) put together.
#pragma once

#include "bigbird/core/files.hpp"
#include "bigbird/core/parts/part_set.hpp"
#include "bigbird/corpus/tokens/token_shards.hpp"

#include <filesystem>
#include <span>

namespace bigbird::corpus {

/// Writes the record of a part beside its folder. Throws WriteError.
void write_tokens_record(const std::filesystem::path& directory, const Shard& shard,
                         std::int64_t shard_tokens, std::vector<PartSegment> segments);

/// Opens parts as open_parts does, and compares all files of their folders with their manifests. Throws
/// InputError naming what differs.
std::vector<Part> open_token_parts(std::span<const std::filesystem::path> paths, int threads);

/// Writes byte for byte the folder that one run writes. Throws InputError where a part holds fewer documents
/// than its record says, WriteError.
void merge_tokens(std::span<const Part> parts, const std::filesystem::path& output, Overwrite overwrite,
                  int threads);

}  // namespace bigbird::corpus
