// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/examples/examples.hpp"
#include "bigbird/rows/row_source.hpp"

#include <memory>
#include <optional>

namespace bigbird::task_models {

/// Rows of an example set, which must outlive the source: the part `window` of their windows. Without a split
/// all of them.
std::unique_ptr<rows::RowSource> example_source(const examples::ExampleSet& examples,
                                                std::optional<examples::Split> split,
                                                const rows::WindowBounds& window);

}  // namespace bigbird::task_models
