// SPDX-License-Identifier: Apache-2.0
// Joins parts of documents (build-documents --shard).
#pragma once

#include "bigbird/core/files.hpp"
#include "bigbird/core/parts/part_set.hpp"
#include "bigbird/corpus/documents/document_builder.hpp"
#include "bigbird/corpus/documents/document_writer.hpp"

#include <filesystem>
#include <span>

namespace bigbird::corpus {

/// The record of a part: `manifest` is document_manifest()'s.
PartRecord documents_record(const Json& manifest, const Shard& shard, std::vector<PartSegment> segments);

/// The manifest of the merged documents.
Json merged_manifest(std::span<const Part> parts);

/// Writes the same bytes as one run, and renames the output to its final name together with `also`. Throws
/// InputError if a part's documents differ from its record's count, WriteError.
void merge_documents(std::span<const Part> parts, const std::filesystem::path& output, Overwrite overwrite,
                     int threads, std::span<PendingOutput* const> also = {});

}  // namespace bigbird::corpus
