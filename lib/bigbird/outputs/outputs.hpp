// SPDX-License-Identifier: Apache-2.0
// Writes scores to files, in the formats of output_spec.hpp.
#pragma once

#include "bigbird/core/files.hpp"
#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/core/parts/part_set.hpp"
#include "bigbird/genome/reference/interval.hpp"
#include "bigbird/outputs/output_spec.hpp"
#include "bigbird/outputs/sinks.hpp"

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

/// Call it before scoring starts. Throws ConfigError: an unknown file extension, a duplicate name, .long.tsv
/// without min_score, or a track where tracks are not supported. Also for an output that exists or cannot be
/// created, and for a part in another format than a table or variants, or with a pipe or standard output.
void prepare_outputs(const OutputSpec& spec);

/// Whether a name contains {label} or {index}.
bool names_labels(const std::filesystem::path& path);
/// The name of each column's file. Throws ConfigError if two would be equal, or if a name without {label} has
/// several columns.
std::vector<std::filesystem::path> paths_of_labels(const std::filesystem::path& path,
                                                   const TableSchema& schema);

/// What the kinds of parts are called in their records: tables of rows, and records of variants.
inline constexpr const char *part_of_rows = "rows", *part_of_vcf = "VCF", *part_of_bcf = "BCF";

/// The settings that all parts of a score file have in common, as stored in their records (core/parts).
struct ScoreRun {
    TableSchema schema;
    std::vector<std::pair<std::string, std::string>> inputs{};  ///< role and SHA-256 of files of rows
    std::optional<double> min_score{};                          ///< for a long table
    std::vector<genome::Contig> contigs{};                      ///< for tracks; none if rows have no places
    Overlap overlap = Overlap::mean;                            ///< for tracks
};

Json to_json(const ScoreRun& run);
/// Throws InputError naming `where`.
ScoreRun score_run_from_json(const Json& json, const std::filesystem::path& where);

/// All outputs of one run; each gets all rows. Not thread-safe.
class Outputs {
public:
    /// `contigs`: those of the genome, for tracks, of which each column becomes one. Throws ConfigError if
    /// several tracks would share a name.
    Outputs(const OutputSpec& spec, const TableSchema& schema, std::span<const genome::Contig> contigs,
            int threads);

    /// Adds an output whose records the caller writes; its sink's write() does nothing. `kind`: of the part.
    /// Call it before the first row.
    void adopt(std::unique_ptr<Sink> sink, const std::filesystem::path& path,
               const char* kind = part_of_rows);
    void write(std::span<const rows::Field> head, std::span<const float> values);
    /// Starts a segment of the job (core/parts/shard.hpp). Does nothing in a job without parts.
    void begin_segment(std::int64_t segment);
    /// Renames all outputs to their final names, or none, including those in `pending`. If this is a part,
    /// also writes each output's part record beside it. Throws WriteError.
    void commit(std::vector<PendingOutput*> pending = {});
    /// commit() of several tables of one run: all outputs are renamed, or none.
    static void commit_together(std::span<Outputs* const> tables, std::vector<PendingOutput*> pending);

private:
    struct Output {
        std::unique_ptr<Sink> sink;
        std::filesystem::path path;
        PartRecord record{};      ///< set if this is a part
        std::int64_t before = 0;  ///< records before this segment
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
