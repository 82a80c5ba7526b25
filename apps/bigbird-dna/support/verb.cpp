// SPDX-License-Identifier: Apache-2.0
#include "support/verb.hpp"

#include "support/help_formatter.hpp"

#include "bigbird/core/error.hpp"

#include <algorithm>
#include <sstream>
#include <utility>

namespace bigbird::cli {

namespace {

/// A door's version of an option (see Verb); null if the door lacks the option.
struct DoorOption {
    std::string task;
    const CLI::Option* option;
};

CLI::App* door_for(const Verb& verb, CLI::App& program, const std::string& task) {
    const std::string name = verb.command->get_name() + "-" + task;
    const auto found =
        program.get_subcommands([&](const CLI::App* each) { return each->get_name() == name; });
    return found.empty() ? nullptr : found.front();
}

const CLI::Option* find_option(const CLI::App& command, const std::string& name) {
    const auto found =
        command.get_options([&](const CLI::Option* option) { return option->check_lname(name); });
    return found.empty() ? nullptr : found.front();
}

/// Those that show the option or, if none does, those that read it.
std::vector<DoorOption> doors_with(const Verb& verb, CLI::App& program, const std::string& name) {
    std::vector<DoorOption> shown, hidden;
    for (const std::string& task : verb.tasks)
        if (CLI::App* const door = door_for(verb, program, task))
            if (const CLI::Option* const option = find_option(*door, name))
                (is_hidden(*option) ? hidden : shown).push_back({task, option});
    return shown.empty() ? hidden : shown;
}

std::string tasks_of(const std::vector<DoorOption>& doors) {
    return CLI::detail::join(
        doors, [](const DoorOption& door) { return door.task; }, ", ");
}

/// The common default if all doors agree, otherwise each task's.
std::string common_default(const std::vector<DoorOption>& doors) {
    const std::string first = shown_default(*doors.front().option);
    const bool agree = std::ranges::all_of(
        doors, [&](const DoorOption& door) { return shown_default(*door.option) == first; });
    if (agree) return first;
    std::vector<std::pair<std::string, std::string>> tasks_by_default;
    for (const DoorOption& door : doors) {
        const std::string own = shown_default(*door.option);
        const auto known =
            std::ranges::find(tasks_by_default, own, &std::pair<std::string, std::string>::first);
        if (known != tasks_by_default.end())
            known->second += ", " + door.task;
        else if (!own.empty())
            tasks_by_default.emplace_back(own, door.task);
    }
    std::string text;
    for (const auto& [own, tasks] : tasks_by_default)
        text += (text.empty() ? "" : "; ") + tasks + ": " + own;
    return text;
}

/// "BP" and "A:B|BP" become "BP|A:B".
std::string common_type(const std::vector<DoorOption>& doors) {
    std::string text;
    for (const DoorOption& door : doors) {
        if (text.find(door.option->get_type_name()) != std::string::npos) continue;
        std::istringstream own(door.option->get_type_name());
        for (std::string word; std::getline(own, word, '|');)
            if (("|" + text + "|").find("|" + word + "|") == std::string::npos)
                text += (text.empty() ? "" : "|") + word;
    }
    return text;
}

void add_common_option(const Verb& verb, const std::vector<DoorOption>& doors) {
    const CLI::Option& first = *doors.front().option;
    const bool all = doors.size() == verb.tasks.size();
    const std::string description = first.get_description() + (all ? "" : " (" + tasks_of(doors) + ")");
    const std::string names = first.get_name(false, true);
    const bool is_flag = first.get_items_expected_max() == 0;
    CLI::Option* option =
        is_flag ? verb.command->add_flag(names, description)
                : verb.command->add_option(names, CLI::callback_t([](const CLI::results_t&) { return true; }),
                                           description);
    if (!is_flag) {
        option->expected(first.get_expected_min(), first.get_expected_max())
            ->allow_extra_args(first.get_allow_extra_args())
            ->type_name(common_type(doors))
            ->default_str(common_default(doors));
    }
    option->group(first.get_group())->required(all && std::ranges::all_of(doors, [](const DoorOption& door) {
                                                   return door.option->get_required();
                                               }));
}

}  // namespace

void take_options_of_doors(const Verb& verb, CLI::App& program) {
    HelpNotes notes = help_notes(*verb.command);
    for (const std::string& task : verb.tasks) {
        CLI::App* const door = door_for(verb, program, task);
        if (door == nullptr) continue;
        for (const CLI::Option* option : door->get_options([](const CLI::Option* each) {
                 return each->nonpositional() && !each->get_lnames().empty();
             })) {
            const std::string name = option->get_lnames().front();
            if (name.starts_with("help") || find_option(*verb.command, name) != nullptr) continue;
            add_common_option(verb, doors_with(verb, program, name));
        }
        for (const std::string& name : help_notes(*door).common)
            if (std::ranges::find(notes.common, name) == notes.common.end()) notes.common.push_back(name);
    }
    set_help(*verb.command, std::move(notes));
}

std::string door_of(const Verb& verb, CLI::App& program) {
    const std::string task = verb.task_of(*verb.command);
    const CLI::App* const door = door_for(verb, program, task);
    if (door == nullptr) throw ConfigError("the task '" + task + "' is not known; this version may be older");
    for (const CLI::Option* option :
         verb.command->get_options([](const CLI::Option* each) { return each->count() > 0; })) {
        if (find_option(*door, option->get_lnames().front()) != nullptr) continue;
        throw ConfigError(option->get_name() + " is for the task " +
                          tasks_of(doors_with(verb, program, option->get_lnames().front())) +
                          ", and this is " + task + "; see 'bigbird-dna " + door->get_name() + " --help'");
    }
    return door->get_name();
}

}  // namespace bigbird::cli
