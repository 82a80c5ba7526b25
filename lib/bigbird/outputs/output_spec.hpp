// SPDX-License-Identifier: Apache-2.0
// Requested files of scores. The name's ending determines the format:
//   .tsv .tsv.gz .tsv.bgz   score table (bgzip), also "-"
//   .csv .csv.gz .csv.bgz   the same as CSV, without comment lines
//   .long.tsv[.gz]          a line for each row and label above a score
//   .npy                    matrix with side tables .rows.tsv and .labels.tsv
//   .h5 .hdf5               HDF5
//   .bedgraph[.gz] .bdg     one label along the genome; also .bedGraph
//   .bw .bigwig             the same as bigWig; also .bigWig
//   .vcf .vcf.gz .bcf       the records of variants with scores in INFO; predict-variants writes them itself,
//                           and with --format vcf also "-"
// A track has one label. For several labels, its name contains {label}, which becomes the label with `_` for
// every character outside A-Z a-z 0-9 . _ + -, or {index}, which becomes its number in the model.
#pragma once

#include "bigbird/core/choice.hpp"
#include "bigbird/core/files.hpp"
#include "bigbird/core/parts/shard.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bigbird::outputs {

/// The value of bases under several rows.
enum class Overlap : std::uint8_t { mean, max };

enum class Kind : std::uint8_t { table, csv, long_table, npy, hdf5, bedgraph, bigwig, variants };
/// The values of --format.
inline constexpr Choices<Kind, 2> stream_choices{{{Kind::table, "table"}, {Kind::variants, "vcf"}}};

struct OutputSpec {
    std::vector<std::filesystem::path> paths{};
    Kind stream = Kind::table;  ///< of the path "-", standard output
    Overwrite overwrite = Overwrite::refuse;
    std::optional<double> min_score{};  ///< for .long.tsv, which needs it
    Overlap overlap = Overlap::mean;    ///< for tracks
    bool tracks = true;                 ///< false: rows are not positions in a genome
    bool variants = false;              ///< whether rows are alleles of a VCF's records
    bool many_rows = false;             ///< see TableSchema
    std::optional<Shard> shard{};       ///< then each output is a part, with a record for merge
    /// Roles and paths of the files that rows come from. merge compares them, so that parts with other rows
    /// are refused.
    std::vector<std::pair<std::string, std::filesystem::path>> inputs{};
    /// Further names and values that all parts of a job have in common.
    std::vector<std::pair<std::string, std::string>> options{};
};

/// Whether a format holds one value along the genome.
constexpr bool is_track(Kind kind) {
    return kind == Kind::bedgraph || kind == Kind::bigwig;
}

/// The format by an output's ending; `stream` for "-".
std::optional<Kind> kind_of(const std::filesystem::path& path, Kind stream = Kind::table);

}  // namespace bigbird::outputs
