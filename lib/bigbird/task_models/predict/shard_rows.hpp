// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/core/parts/shard.hpp"
#include "bigbird/rows/row_source.hpp"

#include <functional>
#include <memory>

namespace bigbird::task_models {

/// Whether a row shall be computed by the part that has the row before it.
using AsBefore = std::function<bool(const rows::RegionRow& before, const rows::RegionRow& row)>;

/// The rows of `all` that a part takes (core/parts/segment_counter.hpp), with their segments. Needs a source
/// that knows its total.
std::unique_ptr<rows::RowSource> shard_rows(std::unique_ptr<rows::RowSource> all, const Shard& shard,
                                            AsBefore as_before);

}  // namespace bigbird::task_models
