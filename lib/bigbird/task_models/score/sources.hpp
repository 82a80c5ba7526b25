// SPDX-License-Identifier: Apache-2.0
// Where rows to be scored come from, beside BED (rows/region_rows.hpp).
#pragma once

#include "bigbird/core/parts/shard.hpp"
#include "bigbird/examples/examples.hpp"
#include "bigbird/genome/reference/reference_genome.hpp"
#include "bigbird/rows/row_source.hpp"

#include <functional>
#include <memory>
#include <optional>

namespace bigbird::task_models {

/// Rows of an example set, which must outlive the source: the part `window` of their windows. Without a split
/// all of them.
std::unique_ptr<rows::RowSource> example_source(const examples::ExampleSet& examples,
                                                std::optional<examples::Split> split,
                                                const rows::WindowBounds& window);

/// The records of a FASTA, which must outlive the source, each as it is.
std::unique_ptr<rows::RowSource> sequence_source(const genome::ReferenceGenome& records);

/// Whether a row shall be computed by the part that has the row before it.
using AsBefore = std::function<bool(const rows::RegionRow& before, const rows::RegionRow& row)>;

/// The rows of `all` that a part takes (core/parts/segment_counter.hpp), with their segments. Needs a source
/// that knows its total.
std::unique_ptr<rows::RowSource> shard_rows(std::unique_ptr<rows::RowSource> all, const Shard& shard,
                                            AsBefore as_before);

}  // namespace bigbird::task_models
