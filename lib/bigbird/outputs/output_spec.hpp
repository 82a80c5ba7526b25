// SPDX-License-Identifier: Apache-2.0
// What is asked of files of scores. The name's ending tells the format:
//   .tsv .tsv.gz .tsv.bgz   score table (bgzip), also "-"
//   .csv .csv.gz .csv.bgz   the same as CSV, without comment lines
//   .long.tsv[.gz]          a line for each row and label above a score
//   .npy                    matrix with side tables .rows.tsv and .labels.tsv
//   .h5 .hdf5               HDF5
//   .bedgraph[.gz] .bdg     one label along the genome; also .bedGraph
//   .bw .bigwig             the same as bigWig; also .bigWig
//   .vcf .vcf.gz .bcf       the records of variants with scores in INFO; predict-variants writes them itself
// A track holds one label; for several its name holds {label}, the label with `_` for every character outside
// A-Z a-z 0-9 . _ + -, or {index}, its number in the model.
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

/// What bases under several rows get.
enum class Overlap : std::uint8_t { mean, max };

/// Of the scores in formats of binary numbers.
enum class Precision : std::uint8_t { float32, float16 };
/// The values of --precision.
inline constexpr Choices<Precision, 2> precision_choices{
    {{Precision::float32, "float32"}, {Precision::float16, "float16"}}};

struct OutputSpec {
    std::vector<std::filesystem::path> paths{};
    Overwrite overwrite = Overwrite::refuse;
    std::optional<double> min_score{};         ///< of .long.tsv, which needs it
    Overlap overlap = Overlap::mean;           ///< of tracks
    bool tracks = true;                        ///< false: rows are no places of the genome
    bool variants = false;                     ///< whether rows are alleles of a VCF's records
    Precision precision = Precision::float32;  ///< of .npy and HDF5
    bool many_rows = false;                    ///< as of Layout
    std::optional<Shard> shard{};              ///< a record stands beside each output then, for merge
    /// Role and path of the files that rows come from: parts of other rows are told by them.
    std::vector<std::pair<std::string, std::filesystem::path>> inputs{};
    /// Further names and values that parts of one work have in common.
    std::vector<std::pair<std::string, std::string>> options{};
};

/// What an output's ending says; "-" is a table.
enum class Kind : std::uint8_t { table, csv, long_table, npy, hdf5, bedgraph, bigwig, variants };
std::optional<Kind> kind_of(const std::filesystem::path& path);
std::string to_string(Kind kind);

}  // namespace bigbird::outputs
