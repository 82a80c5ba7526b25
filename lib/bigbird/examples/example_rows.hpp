// SPDX-License-Identifier: Apache-2.0
// The rows of an example folder as columns in memory.
#pragma once

#include "bigbird/examples/examples.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace bigbird::examples {

/// A column that is empty does not exist for the task.
struct ExampleRows {
    std::vector<std::string> names;        ///< names of promoters and of records
    std::vector<std::string> places;       ///< contigs, or groups of records, each once
    std::vector<std::uint32_t> place;      ///< index into `places`
    std::vector<std::int64_t> begin, end;  ///< for records 0 and the length
    std::vector<Split> split;
    std::vector<genome::Strand> strand;  ///< strands of promoters
};

/// Reads sequences.bed, for Task::sequences records.tsv. Throws InputError with file and line.
ExampleRows read_example_rows(const std::filesystem::path& directory, Task task);

}  // namespace bigbird::examples
