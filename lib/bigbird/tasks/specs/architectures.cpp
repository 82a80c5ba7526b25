// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tasks/specs/architectures.hpp"

#include "bigbird/core/error.hpp"

#include <algorithm>

namespace bigbird::tasks {

bool Architecture::is_for(examples::Task task) const {
    return task == examples::Task::promoter    ? tasks.promoter
           : task == examples::Task::chromatin ? tasks.chromatin
                                               : tasks.sequences;
}

bool Architecture::reads_records(examples::Task task, examples::TargetKind target) const {
    return scores == Scores::records ||
           (scores == Scores::windows_or_records &&
            (task == examples::Task::sequences || target == examples::TargetKind::numbers));
}

bool Architecture::takes(std::string_view option) const {
    return (" " + std::string(options) + " ").find(" " + std::string(option) + " ") != std::string::npos;
}

const Architecture& architecture_of(std::string_view name, std::string_view head,
                                    std::optional<examples::Task> task) {
    const auto* const found = std::ranges::find_if(architectures, [&](const Architecture& known) {
        return known.name == name && (name != bigbird_name || known.with_head == (head == "bins"));
    });
    if (found != architectures.end()) return *found;
    std::string names(bigbird_name);
    for (const Architecture& known : architectures)
        if (known.name != bigbird_name && (!task || known.is_for(*task)))
            names.append(", ").append(known.name);
    throw ConfigError("--architecture '" + std::string(name) + "' is not known; there are " + names);
}

std::string names_without_model(examples::Task task) {
    std::string names;
    for (const Architecture& known : architectures)
        if (!known.reads_tokens() && known.is_for(task))
            names.append(names.empty() ? "" : ", ").append(known.name);
    return names;
}

}  // namespace bigbird::tasks
