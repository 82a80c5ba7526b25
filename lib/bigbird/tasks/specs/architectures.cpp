// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tasks/specs/architectures.hpp"

#include "bigbird/core/error.hpp"

#include <algorithm>

namespace bigbird::tasks {

bool Architecture::reads_records(examples::Task task, examples::TargetKind target) const {
    return scores == Scores::records ||
           (scores == Scores::windows_or_records &&
            (traits_of(task).has_records || target == examples::TargetKind::numbers));
}

bool Architecture::takes(std::string_view option) const {
    return (" " + std::string(options) + " ").find(" " + std::string(option) + " ") != std::string::npos;
}

const Architecture& architecture_of(std::string_view name, std::string_view head,
                                    std::optional<examples::Task> task) {
    for (const std::string_view own : {head, std::string_view()})
        for (const Architecture& known : architectures)
            if (known.name == name && known.head == own) return known;
    std::string names(bigbird_name);
    for (const Architecture& known : architectures)
        if (known.name != bigbird_name && known.training != Training::published &&
            (!task || known.is_for(*task)))
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

std::string_view usual_name(examples::Task task) {
    for (const Architecture& known : architectures)
        if (known.is_usual && known.is_for(task)) return known.name;
    return bigbird_name;
}

}  // namespace bigbird::tasks
