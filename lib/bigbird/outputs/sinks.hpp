// SPDX-License-Identifier: Apache-2.0
// The contents of score files, and the sinks of all formats. Outputs (outputs.hpp) makes them by the names of
// files.
#pragma once

#include "bigbird/core/files.hpp"
#include "bigbird/genome/reference/interval.hpp"
#include "bigbird/outputs/output_spec.hpp"
#include "bigbird/rows/label_table.hpp"
#include "bigbird/rows/row.hpp"
#include "bigbird/rows/score_table.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bigbird::outputs {

/// The type of a field, for formats with types.
enum class FieldKind : std::uint8_t { text, integer, real };

/// A column before the scores; `name` is as in a table's header, without #.
struct HeadColumn {
    std::string name;
    FieldKind kind = FieldKind::text;
    bool optional = false;  ///< of a text: "." is no text, and empty in CSV
};

/// A column of numbers.
struct Column {
    std::string name;                  ///< in a table's header; unique
    std::int64_t index = 0;            ///< the label's index in the model
    std::string group = ".", label{};  ///< the label's
    std::string id{};                  ///< suitable as part of a file name
    std::string quantity{};            ///< which of a label's numbers, if there are several
};

struct TableSchema {
    std::vector<HeadColumn> head;
    std::vector<Column> columns{};
    rows::Provenance provenance{};
    bool many_rows = false;  ///< use HDF5's schema for many rows, even if there are few
    bool part = false;       ///< whether a table is a part for merge, exact to the bit
    /// If columns have quantities, which are the same for all labels: the one that a long table's threshold
    /// compares by its size.
    std::string effect{};
};

/// chrom start end name score strand status n_fraction: the fields of rows::fields_of.
std::vector<HeadColumn> region_head();

/// id length status n_fraction: the fields of rows::record_fields_of; and `class` if there are classes.
std::vector<HeadColumn> record_head(bool classes);

/// The columns of the labels `chosen`.
std::vector<Column> label_columns(const rows::LabelTable& labels, std::span<const std::size_t> chosen);

/// Takes rows in order. Not thread-safe.
class Sink {
public:
    virtual ~Sink() = default;
    /// One field per head column, one value per column; no values for a row that was not scored. Throws
    /// WriteError.
    virtual void write(std::span<const rows::Field> head, std::span<const float> values) = 0;
    /// Lines or rows written so far; 0 for a track, which has none before commit().
    virtual std::int64_t records() const = 0;
    /// Ends the output's files and adds them to `pending`, in the order of commit_together(). Without that
    /// call, no file appears. Throws WriteError.
    virtual void finish(std::vector<PendingOutput*>& pending) = 0;
    /// Renames the complete output to its final name. Throws WriteError.
    void commit();
};

// Score tables (rows/score_table.hpp): only here is a row turned into text.

/// One line per row, one column per label; CSV and bgzip by suffix, "-" is standard output. A score is
/// written with the fewest digits that read back as the same float, NaN as NA; as CSV, it is empty. Texts are
/// the same in both. In a part (TableSchema::part), NA is only in rows that were not scored, NaN is nan or
/// -nan by its sign, an empty text is empty, and bgzip is fast.
std::unique_ptr<Sink> table_sink(const std::filesystem::path& path, Overwrite overwrite,
                                 const TableSchema& schema, int threads);

/// The `##` lines of a table, and its header.
std::string lines_before_rows(const TableSchema& schema);
/// Appends fields as a table has them, each followed by a tab: integers in decimal, other numbers with the
/// fewest digits that read back as the same, NaN as NA, no text as ".".
void append_fields(std::string& line, std::span<const rows::Field> fields);

/// A table with one line for each row and label whose score is at least `min_score`: the row's fields, then
/// `index group label value`. Rows that were not scored have no line. If columns have quantities, there is a
/// line for each, `index group label quantity value`, where the absolute value of schema.effect is at least
/// `min_score`. Throws ConfigError if no column has that quantity.
std::unique_ptr<Sink> long_sink(const std::filesystem::path& path, Overwrite overwrite,
                                const TableSchema& schema, float min_score, int threads);

/// X.npy: float32 of shape (rows, columns), NaN where nothing was scored;
/// X.rows.tsv: the rows' fields; X.labels.tsv: `column index group name id table_column`. Side tables come
/// first, so that X.npy is never without them.
std::unique_ptr<Sink> npy_sink(const std::filesystem::path& path, Overwrite overwrite,
                               const TableSchema& schema);

/// numpy's name of the number type.
inline constexpr std::string_view npy_type = "<f4";

/// The column of X.labels.tsv with the names that the columns have in a table.
inline constexpr std::string_view npy_column_name = "table_column";

/// The three files of an output X.npy.
std::vector<std::filesystem::path> npy_files(const std::filesystem::path& path);

// HDF5.

inline constexpr std::int64_t most_rows_of_small_hdf5 = 65'536;

/// One HDF5 file: `scores` float32 (rows, columns), NaN where nothing was scored; `rows/FIELD`,
/// one dataset per head column (UTF-8 strings, int64 with -1, or float64 with NaN, for fields that are not
/// numbers). Also `labels/index`, `group`, `name`, `id` and `column`, and the provenance as attributes of the
/// file. Rows are written in chunks: memory does not grow. The same rows give the same bytes. Up to
/// most_rows_of_small_hdf5 rows, fewer with many columns, make a small file: all datasets are compressed and
/// strings have a fixed length, unless one is longer than 255 bytes. In larger files, only the scores are
/// compressed and strings have any length.
std::unique_ptr<Sink> hdf5_sink(const std::filesystem::path& path, Overwrite overwrite,
                                const TableSchema& schema);

// Scores of one label along the genome, for browsers.

/// A file of `kind` bedgraph or bigwig. Takes rows in any order and keeps them, at 16 bytes each, until
/// commit, which sorts them by contig (the order of `contigs`) and position. The first three fields of the
/// head must be contig (or an alias), begin and end. Rows that were not scored, have no bases or are on none
/// of the contigs are left out. `column` chooses the value.
std::unique_ptr<Sink> track_sink(const std::filesystem::path& path, Overwrite overwrite, Kind kind,
                                 std::span<const genome::Contig> contigs, std::size_t column,
                                 Overlap overlap);

/// A track with a value for each base of rows. Rows come by add(), in any order, and wait in a temporary
/// file, so that memory grows by 24 bytes a row. Rows that overlap are cut at the middle between their
/// middles, as chrombpnet's pred_bw cuts them.
class ProfileTrack : public Sink {
public:
    /// `values`: one for each base. Rows on none of the contigs are left out. Throws WriteError.
    virtual void add(const genome::Interval& where, std::span<const float> values) = 0;
};
std::unique_ptr<ProfileTrack> profile_track(const std::filesystem::path& path, Overwrite overwrite, Kind kind,
                                            std::span<const genome::Contig> contigs);

/// A value over [begin, end) of a contig.
struct Segment {
    std::uint32_t contig = 0, begin = 0, end = 0;
    float value = 0;
    bool operator==(const Segment&) const = default;
};
/// Sorts segments and passes on segments that cover the same bases without overlaps, in order.
void without_overlaps(std::vector<Segment>& segments, Overlap overlap,
                      const std::function<void(const Segment&)>& take);

/// Opens a new stream that is written and read back, as libBigWig does for its zoom levels. If reading fails,
/// libBigWig would end the program by a signal; this stream throws WriteError, through libBigWig and the C
/// library. Failed writes set its error flag, as for any stream. `name`: its name in errors. Returns null,
/// with errno, if it cannot be opened.
std::FILE* open_bigwig_stream(const std::filesystem::path& path, const std::filesystem::path& name);

}  // namespace bigbird::outputs
