// SPDX-License-Identifier: Apache-2.0
// The names and numbers of an example folder's format (FORMAT.md), shared by its reader and its writer.
#pragma once

#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/genome/reference/interval.hpp"

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <span>
#include <vector>

namespace bigbird::examples {

constexpr const char* format_name = "bigbird-dna examples";
constexpr int format_version = 1;

constexpr const char* manifest_name = "manifest.json";
constexpr const char* rows_name = "sequences.bed";
constexpr const char* labels_name = "labels.tsv";
constexpr const char* matrix_name = "labels.npy";
constexpr const char* store_name = "sequences.2bit";
constexpr const char* stretches_name = "bins.bed";
constexpr const char* bins_matrix_name = "bins.npy";
constexpr const char* records_name = "records.tsv";
constexpr const char* numbers_name = "targets.npy";

/// contig, start, end, split
constexpr std::size_t chromatin_columns = 4;
/// contig, start, end, split, 1 or 0, strand, name
constexpr std::size_t promoter_columns = 7;
/// id, split, length, n_fraction, group; after them the values, for readers
constexpr std::size_t record_columns = 5;

// The SHA-256 of each file of an example folder, in its manifest under "files" (FORMAT.md).

/// Checksums of a folder's files that hold examples: {"labels.npy": "...", ...}. Lists for people, such as
/// test.bed, are left out. Throws InputError, Stopped, and std::filesystem::filesystem_error where a file
/// cannot be searched.
Json file_checksums(const std::filesystem::path& folder);

/// Throws InputError if a file differs from the one that `manifest` describes, or if "files" is not such a
/// list. Accepts a manifest without "files", as in older folders. Throws Stopped.
void require_files_of(const Json& manifest, const std::filesystem::path& folder,
                      std::initializer_list<const char*> names);

/// Throws WriteError naming the file if writing to `out` failed.
void require_written(const std::ofstream& out, const std::filesystem::path& path);

/// Names and lengths of contigs in JSON: [{"name": "22", "length": 51304566}, ...]. They are in manifests of
/// examples and in config.json of task models.
Json contigs_json(std::span<const genome::Contig> contigs);

/// Throws Json::exception where a name or a length is missing or of another kind.
std::vector<genome::Contig> contigs_from(const Json& json);

}  // namespace bigbird::examples
