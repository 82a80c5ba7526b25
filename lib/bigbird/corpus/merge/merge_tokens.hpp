// SPDX-License-Identifier: Apache-2.0
// Joins parts of a corpus of tokens (tokenize --shard).
#pragma once

#include "bigbird/core/files.hpp"
#include "bigbird/core/parts/part_set.hpp"
#include "bigbird/corpus/documents/document_builder.hpp"
#include "bigbird/corpus/documents/document_writer.hpp"
#include "bigbird/corpus/tokens/token_shards.hpp"

#include <filesystem>
#include <memory>
#include <span>
#include <vector>

namespace bigbird::corpus {

// Joins parts of documents (build-documents --shard).

/// The record of a part: `manifest` is document_manifest()'s.
PartRecord documents_record(const Json& manifest, const Shard& shard, std::vector<PartSegment> segments);

/// The manifest of the merged documents.
Json merged_manifest(std::span<const Part> parts);

/// Writes the same bytes as one run, and renames the output to its final name together with `also`. Throws
/// InputError if a part's documents differ from its record's count, WriteError.
void merge_documents(std::span<const Part> parts, const std::filesystem::path& output, Overwrite overwrite,
                     int threads, std::span<PendingOutput* const> also = {});

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
