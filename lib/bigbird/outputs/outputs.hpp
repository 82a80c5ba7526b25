// SPDX-License-Identifier: Apache-2.0
// Scores as files, the format told by the name's ending:
//   .tsv .tsv.gz .tsv.bgz   score table (bgzip), also "-"
//   .csv .csv.gz .csv.bgz   the same as CSV, without comment lines
//   .long.tsv[.gz]          a line for each row and label above a score
//   .npy                    matrix with side tables .rows.tsv and .labels.tsv
//   .h5 .hdf5               HDF5
//   .bedgraph[.gz] .bdg     one label along the genome; also .bedGraph
//   .bw .bigwig             the same as bigWig; also .bigWig
// A track holds one label; for several its name holds {label}, the label with `_` for every character outside
// A-Z a-z 0-9 . _ + -, or {index}, its number in the model.
#pragma once

#include "bigbird/core/files.hpp"
#include "bigbird/core/parts/part_record.hpp"
#include "bigbird/core/parts/shard.hpp"
#include "bigbird/genome/reference/interval.hpp"
#include "bigbird/outputs/layout.hpp"
#include "bigbird/outputs/track_sink.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bigbird::outputs {

struct OutputSpec {
    std::vector<std::filesystem::path> paths{};
    Overwrite overwrite = Overwrite::refuse;
    std::optional<double> min_score{};         ///< of .long.tsv, which needs it
    Overlap overlap = Overlap::mean;           ///< of tracks
    bool tracks = true;                        ///< false: rows are no places of the genome
    Precision precision = Precision::float32;  ///< of .npy and HDF5
    bool many_rows = false;                    ///< as of Layout
    std::optional<Shard> shard{};              ///< a record stands beside each output then, for merge
    /// Role and path of the files that rows come from: parts of other rows are told by them.
    std::vector<std::pair<std::string, std::filesystem::path>> inputs{};
    /// Further names and values that parts of one work have in common.
    std::vector<std::pair<std::string, std::string>> options{};
};

/// What an output's ending says; "-" is a table.
enum class Kind : std::uint8_t { table, csv, long_table, npy, hdf5, bedgraph, bigwig };
std::optional<Kind> kind_of(const std::filesystem::path& path);
std::string to_string(Kind kind);

/// Call it before the work starts. Throws ConfigError: an ending that is none of the above, a name given
/// twice, .long.tsv without min_score, a track where there are none, an output that exists or cannot be made,
/// a part of rows that come through a pipe or go to standard output.
void prepare_outputs(const OutputSpec& spec);

/// All outputs of one run, each with all rows. Not thread-safe.
class Outputs {
public:
    /// `track_columns` are those of layout.columns that tracks are made of; `contigs` those of the genome,
    /// for tracks. Throws ConfigError where several tracks would have one name.
    Outputs(const OutputSpec& spec, const Layout& layout, std::span<const std::size_t> track_columns,
            std::span<const genome::Contig> contigs, int threads);

    void write(std::span<const rows::Field> head, std::span<const float> values);
    /// A row of another file of the same layout, as Sink::copy() takes it.
    void copy(std::string_view line, std::span<const std::byte> numbers);
    /// What follows is of this segment of the work (core/parts/segment_counter.hpp); without a shard it does
    /// nothing.
    void begin_segment(std::int64_t segment);
    /// Puts all in place or none, with the record of each beside it where this is a part. Throws WriteError.
    void commit();

private:
    struct Output {
        std::unique_ptr<Sink> sink;
        std::vector<std::filesystem::path> files;
        PartRecord record{};      ///< of a part
        std::int64_t before = 0;  ///< records in front of the segment
    };
    void add(std::unique_ptr<Sink> sink, Kind kind, const std::filesystem::path& path);
    void end_segment();
    std::vector<std::unique_ptr<PendingOutput>> part_records(std::span<PendingOutput* const> pending);

    const OutputSpec spec_;
    const Layout layout_;
    std::vector<genome::Contig> contigs_;
    std::vector<Output> outputs_;
    std::int64_t segment_ = -1;
};

}  // namespace bigbird::outputs
