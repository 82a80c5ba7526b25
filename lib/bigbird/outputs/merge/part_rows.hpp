// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/core/parts/part_set.hpp"
#include "bigbird/outputs/score_run.hpp"

#include <cstdint>
#include <memory>

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

/// The HDF5 library reads in a child process, since it can crash on a damaged file. Call it before this
/// process opens a file of HDF5: a fork shares the library's state. `schema` must outlive the rows. Throws
/// InputError if the file does not fit the record and `schema`, and where it leads to other files.
std::unique_ptr<PartRows> hdf5_rows(const Part& part, const TableSchema& schema);

}  // namespace bigbird::outputs
