// SPDX-License-Identifier: Apache-2.0
#include "support/tasks.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/examples/examples.hpp"

#include <algorithm>
#include <utility>

namespace bigbird::cli {

void add_alias(CLI::App& command, const std::string& task, const std::string& description,
               std::vector<Example> examples) {
    const std::string verb = command.get_name();
    const std::string name = verb.substr(0, verb.find('-')) + "-" + task;
    for (Example& example : examples)
        example.line = "bigbird-dna " + name + " " + example.line;
    help_notes(command).aliases.push_back({name, task, description, std::move(examples)});
}

void take_alias(CLI::App& program, const std::string& name) {
    for (CLI::App* command : program.get_subcommands([](CLI::App*) { return true; })) {
        HelpNotes& notes = help_notes(*command);
        const auto alias = std::ranges::find(notes.aliases, name, &Alias::name);
        if (alias == notes.aliases.end()) continue;
        command->name(name)->description(alias->description);
        notes.examples = alias->examples;
        notes.task = alias->task;
        return;
    }
}

std::vector<std::string> command_names(const CLI::App& program) {
    std::vector<std::string> names;
    for (const CLI::App* command : program.get_subcommands({}))
        names.push_back(command->get_name());
    for (const CLI::App* command : program.get_subcommands({}))
        for (const Alias& alias : help_notes(*command).aliases)
            names.push_back(alias.name);
    return names;
}

void only_for(CLI::App& command, const std::string& tasks, std::initializer_list<const char*> options) {
    for (const char* name : options)
        help_notes(command).tasks[name] = tasks;
}

std::optional<std::string> option_of_other_task(const CLI::App& command, const std::string& task) {
    const HelpNotes& notes = help_notes(command);
    const auto others = command.get_options(
        [&](const CLI::Option* each) { return each->count() > 0 && !is_for(notes, *each, task); });
    if (others.empty()) return std::nullopt;
    const std::string name = others.front()->get_name();
    return name + " is for the task " + notes.tasks.at(name) + ", and this is " + task;
}

std::string settle_task(const CLI::App& command, const std::function<std::string()>& find) {
    const HelpNotes& notes = help_notes(command);
    const std::string task = notes.task.empty() ? find() : notes.task;
    const auto alias = std::ranges::find(notes.aliases, task, &Alias::task);
    if (alias == notes.aliases.end())
        throw ConfigError("the task '" + task + "' is not known; this version may be older");
    if (const auto wrong = option_of_other_task(command, task))
        throw ConfigError(*wrong + "; see 'bigbird-dna " + alias->name + " --help'");
    return task;
}

Json manifest_in(const std::filesystem::path& examples) {
    std::error_code ignored;
    const std::filesystem::path manifest = examples / "manifest.json";
    const bool is_there = !examples.empty() && std::filesystem::is_regular_file(manifest, ignored);
    return is_there ? read_json(manifest) : Json();
}

std::string task_in(const Json& json, const std::filesystem::path& file) {
    const Json task = json.is_object() ? json.value("task", Json()) : Json();
    if (!task.is_string()) throw InputError("does not say which task it is for", file);
    return task.get<std::string>();
}

std::string task_of_labels(const std::filesystem::path& bases, const char* option,
                           const std::filesystem::path& examples, const Json& manifest) {
    if (!bases.empty()) return "tokens";
    if (examples.empty()) {
        throw ConfigError(std::string("--examples, a folder of build-chromatin, build-tracks, "
                                      "build-promoters or build-sequences, or ") +
                          option + ", a BED that names bases, is needed");
    }
    if (manifest.is_null()) examples::ExampleSet::load(examples);  // throws what is wrong
    return task_in(manifest, examples / "manifest.json");
}

}  // namespace bigbird::cli
