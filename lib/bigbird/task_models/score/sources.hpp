// SPDX-License-Identifier: Apache-2.0
// Sources of rows to score, besides BED (rows/region_rows.hpp).
#pragma once

#include "bigbird/core/parts/shard.hpp"
#include "bigbird/examples/examples.hpp"
#include "bigbird/genome/reference/reference_genome.hpp"
#include "bigbird/rows/row.hpp"
#include "bigbird/rows/sequence_reader.hpp"

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>

namespace bigbird::task_models {

/// How sequences without genome coordinates are read.
struct RecordFit {
    /// Bases of every window, cut or padded with N around the sequence's middle; 0: complete sequences.
    std::int64_t window = 0;
    std::int64_t shortest = 1;  ///< shorter ones get the status bad_interval, or are an error
    bool skip_invalid = false;
    bool can_skip = true;  ///< whether the command has --skip-invalid for them, which errors then name
};

/// Records of a FASTA, CSV or TSV, or of standard input ("-"). A row's contig is the record's id. Its
/// window's contig is the record's number, because ids may repeat. total() reads the file a second time.
/// Throws as rows::SequenceReader and normalise().
std::unique_ptr<rows::RowSource> record_source(const std::filesystem::path& path,
                                               const rows::SequenceColumns& columns, const RecordFit& fit);

/// Rows of an example set, which must outlive the source: the part `window` of their windows or, for examples
/// of Task::sequences, records with a `fit`. Without a split, all rows.
std::unique_ptr<rows::RowSource> example_source(const examples::ExampleSet& examples,
                                                std::optional<examples::Split> split,
                                                const rows::WindowBounds& window,
                                                std::optional<RecordFit> fit = std::nullopt);

/// The unchanged records of a FASTA, which must outlive the source.
std::unique_ptr<rows::RowSource> sequence_source(const genome::ReferenceGenome& records);

/// Whether a row must be in the same part as the row before it.
using AsBefore = std::function<bool(const rows::RegionRow& before, const rows::RegionRow& row)>;

/// The rows of `all` that a part takes (core/parts/shard.hpp), with their segments. Needs a source
/// that knows its total.
std::unique_ptr<rows::RowSource> shard_rows(std::unique_ptr<rows::RowSource> all, const Shard& shard,
                                            AsBefore as_before);

}  // namespace bigbird::task_models
