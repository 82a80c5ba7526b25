// SPDX-License-Identifier: Apache-2.0
// The names and numbers of an example folder's format (FORMAT.md), shared by its reader and its writer.
#pragma once

#include <cstddef>

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

}  // namespace bigbird::examples
