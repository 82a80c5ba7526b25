// SPDX-License-Identifier: Apache-2.0
// Where predict() takes its rows from.
#pragma once

#include "bigbird/examples/examples.hpp"
#include "bigbird/rows/region_rows.hpp"

#include <cstdint>
#include <memory>
#include <optional>

namespace bigbird::task_models {

/// Rows in order. next() is called from one thread at a time, fill() from many.
class RowSource {
public:
    virtual ~RowSource() = default;
    virtual std::optional<rows::RegionRow> next() = 0;
    /// Sets sequence, status and head of a row that next() gave.
    virtual void fill(rows::RegionRow& row) const = 0;
    /// Says on standard error what is worth saying once all rows are read.
    virtual void report() const = 0;
    /// 0 where it cannot be known beforehand (pipes).
    virtual std::int64_t total() const = 0;
};

/// BED rows on a reference, which must outlive the source.
std::unique_ptr<RowSource> region_source(const std::filesystem::path& regions,
                                         const genome::ReferenceGenome& reference,
                                         const rows::RegionOptions& options);

/// Rows of an example set, which must outlive the source: the part `window` of their windows.
std::unique_ptr<RowSource> example_source(const examples::ExampleSet& examples,
                                          std::optional<examples::Split> split,
                                          const rows::WindowBounds& window);

}  // namespace bigbird::task_models
