// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/core/parts/part_set.hpp"
#include "bigbird/outputs/score_run.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

namespace bigbird::outputs {

class Outputs;

/// Reads the rows of one part, in their order, and writes them to the merged output. Not thread-safe.
class PartRows {
public:
    virtual ~PartRows() = default;
    /// Writes the next `records` records to `whole`, the merged output. Throws InputError if the part has
    /// fewer, WriteError.
    virtual void copy(std::int64_t records, Outputs& whole) = 0;
    /// Throws InputError if the part has more.
    virtual void require_end() {}
};

/// Lines after the header of a table (CSV or not), or of a long table.
std::unique_ptr<PartRows> line_rows(const std::filesystem::path& path, bool csv);
/// Throws InputError if the matrix does not fit the record and `schema`.
std::unique_ptr<PartRows> npy_rows(const Part& part, const TableSchema& schema);
/// The HDF5 library reads in a child process, since it can crash on a damaged file. Call it before this
/// process opens a file of HDF5: a fork shares the library's state. `schema` must outlive the rows. Throws
/// InputError as npy_rows() does, and where the file leads to other files.
std::unique_ptr<PartRows> hdf5_rows(const Part& part, const TableSchema& schema);

/// Writes all tracks of `parts`, bigWig or bedGraph, for the only column of `run`. Throws InputError if rows
/// of several parts overlap in a track of means.
void copy_tracks(std::span<const Part> parts, const ScoreRun& run, Outputs& whole);

}  // namespace bigbird::outputs
