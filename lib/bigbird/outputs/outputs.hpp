// SPDX-License-Identifier: Apache-2.0
// Scores as files, in the formats of output_spec.hpp.
#pragma once

#include "bigbird/core/files.hpp"
#include "bigbird/core/parts/part_record.hpp"
#include "bigbird/genome/reference/interval.hpp"
#include "bigbird/outputs/output_spec.hpp"
#include "bigbird/outputs/table_schema.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace bigbird::outputs {

/// Call it before the work starts. Throws ConfigError: an ending that is none of the above, a name given
/// twice, .long.tsv without min_score, a track where there are none, an output that exists or cannot be made,
/// a part of rows that come through a pipe or go to standard output.
void prepare_outputs(const OutputSpec& spec);

/// Whether a name holds {label} or {index}, and the name with a label's in their place.
bool names_labels(const std::filesystem::path& path);
std::filesystem::path path_of_label(const std::filesystem::path& path, const Column& column);
/// Throws ConfigError where two labels would have one name, or where there are several for a name without
/// {label}.
void require_apart(const std::filesystem::path& path, const TableSchema& schema,
                   std::span<const std::size_t> columns);

/// All outputs of one run, each with all rows. Not thread-safe.
class Outputs {
public:
    /// `track_columns` are those of schema.columns that tracks are made of; `contigs` those of the genome,
    /// for tracks. Throws ConfigError where several tracks would have one name.
    Outputs(const OutputSpec& spec, const TableSchema& schema, std::span<const std::size_t> track_columns,
            std::span<const genome::Contig> contigs, int threads);

    /// One whose records somebody else writes; its sink's write() does nothing. Call it before a row comes.
    void adopt(std::unique_ptr<Sink> sink, Kind kind, const std::filesystem::path& path);
    void write(std::span<const rows::Field> head, std::span<const float> values);
    /// A row of another file of the same schema, as Sink::copy() takes it.
    void copy(std::string_view line, std::span<const std::byte> numbers);
    /// What follows is of this segment of the work (core/parts/segment_counter.hpp); without a shard it does
    /// nothing.
    void begin_segment(std::int64_t segment);
    /// Puts all in place or none, with the record of each beside it where this is a part, and what is
    /// `pending` already. Throws WriteError.
    void commit(std::vector<PendingOutput*> pending = {});

private:
    struct Output {
        std::unique_ptr<Sink> sink;
        std::vector<std::filesystem::path> files;
        PartRecord record{};      ///< of a part
        std::int64_t before = 0;  ///< records in front of the segment
    };
    void end_segment();
    std::vector<std::unique_ptr<PendingOutput>> part_records(std::span<PendingOutput* const> pending);

    const OutputSpec spec_;
    const TableSchema schema_;
    std::vector<genome::Contig> contigs_;
    std::vector<Output> outputs_;
    std::int64_t segment_ = -1;
};

}  // namespace bigbird::outputs
