// SPDX-License-Identifier: Apache-2.0
// The table of tasks: what models are trained for, and what distinguishes the rows of their examples and
// scores. Tasks are compared nowhere else.
#pragma once

#include "bigbird/core/choice.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace bigbird::examples {

enum class Task : std::uint8_t { promoter, chromatin, sequences, tokens };

inline constexpr Choices<Task, 4> task_choices{{{Task::promoter, "promoter"},
                                                {Task::chromatin, "chromatin"},
                                                {Task::sequences, "sequences"},
                                                {Task::tokens, "tokens"}}};
inline std::string_view to_string(Task task) {
    return word_of(task_choices, task);
}

struct TaskTraits {
    bool about_tss = false;     ///< rows are TSSs with a name; windows are around them, on their strand
    bool has_bins = false;      ///< rows are bins of the genome, which have no strand
    bool has_records = false;   ///< rows are complete sequences with an id, without a place in a genome
    bool labels_bases = false;  ///< bases have labels, which a BED names instead of an example folder
};
/// A row for each task, in the order of the enum.
inline constexpr std::array<TaskTraits, task_choices.size()> task_table{
    {{.about_tss = true}, {.has_bins = true}, {.has_records = true}, {.labels_bases = true}}};
constexpr const TaskTraits& traits_of(Task task) {
    return task_table[static_cast<std::size_t>(task)];
}

}  // namespace bigbird::examples
