// SPDX-License-Identifier: Apache-2.0
// The contents of score files, independent of their format.
#pragma once

#include "bigbird/core/files.hpp"
#include "bigbird/outputs/output_spec.hpp"
#include "bigbird/rows/label_table.hpp"
#include "bigbird/rows/row.hpp"
#include "bigbird/rows/score_table.hpp"

#include <cstddef>
#include <cstdint>
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
};

/// A column of numbers.
struct Column {
    std::string name;                ///< in a table's header; unique
    std::int64_t index = 0;          ///< the label's index in the model
    std::string group = ".", label;  ///< the label's
    std::string id;                  ///< suitable as part of a file name
};

struct TableSchema {
    std::vector<HeadColumn> head;
    std::vector<Column> columns;
    rows::Provenance provenance;
    Precision precision = Precision::float32;  ///< type of numbers in .npy and HDF5
    bool many_rows = false;                    ///< use HDF5's schema for many rows, even if there are few
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
    /// Copies a row of another file with this schema: its line with the line break, and the bytes of its
    /// numbers if they are in a separate file. Only formats with lines support this. Throws WriteError.
    virtual void copy(std::string_view line, std::span<const std::byte> numbers);
    /// Lines or rows written so far; 0 for a track, which has none before commit().
    virtual std::int64_t records() const = 0;
    /// Ends the output's files and adds them to `pending`, in the order of commit_together(). Without that
    /// call, no file appears. Throws WriteError.
    virtual void finish(std::vector<PendingOutput*>& pending) = 0;
    /// Renames the complete output to its final name. Throws WriteError.
    void commit();
};

}  // namespace bigbird::outputs
