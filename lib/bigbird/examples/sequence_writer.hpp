// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/examples/examples.hpp"

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace bigbird::examples {

/// A record of Task::sequences.
struct SequenceExample {
    std::string id, group = ".";  ///< neither empty nor with tabs or line breaks
    Split split = Split::train;
    std::string sequence;               ///< normalized, 1 to rows::longest_window letters
    std::vector<std::uint32_t> labels;  ///< the class, or the labels that are 1
    std::vector<float> numbers;         ///< a finite one for each entry of the label table
};

/// Writes an example folder of Task::sequences (FORMAT.md) into the empty `folder`, a PendingOutput's; there
/// is at least one record. `details` follow the writer's own entries. Throws WriteError.
void write_sequence_examples(const std::filesystem::path& folder, TargetKind target,
                             const rows::LabelTable& labels, std::span<const SequenceExample> records,
                             const Json& details);

}  // namespace bigbird::examples
