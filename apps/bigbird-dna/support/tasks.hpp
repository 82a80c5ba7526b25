// SPDX-License-Identifier: Apache-2.0
// Commands of several tasks: finetune, predict and evaluate. One parser takes the options of all tasks. An
// alias, such as predict-chromatin, is the same command with its task given.
#pragma once

#include "support/help_formatter.hpp"

#include "bigbird/core/formats/json_file.hpp"

#include <CLI/CLI.hpp>

#include <filesystem>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

namespace bigbird::cli {

/// Adds the alias VERB-TASK, VERB being the first word of the command's name. The lines of `examples` begin
/// behind "bigbird-dna VERB-TASK".
void add_alias(CLI::App& command, const std::string& task, const std::string& description,
               std::vector<Example> examples);

/// If `name` is an alias, its command gets its name, description, examples and task. Call it before parsing,
/// or for the help of an alias.
void take_alias(CLI::App& program, const std::string& name);

/// The names of all commands and aliases.
std::vector<std::string> command_names(const CLI::App& program);

/// Marks options, by their first long names, that only some tasks have: "chromatin, tokens".
void only_for(CLI::App& command, const std::string& tasks, std::initializer_list<const char*> options);

/// "--members is for the task sequences, and this is promoter", of the first given option that is not for the
/// task; nullopt if there is none.
std::optional<std::string> option_of_other_task(const CLI::App& command, const std::string& task);

/// The task of the parsed command: the alias's, or else what `find` returns. Throws ConfigError if the
/// command has no such task, or if an option is given that is not for it.
std::string settle_task(const CLI::App& command, const std::function<std::string()>& find);

/// manifest.json of a folder of examples; null if there is none.
Json manifest_in(const std::filesystem::path& examples);

/// The "task" of a JSON object. Throws InputError, which names the file, if there is none.
std::string task_in(const Json& json, const std::filesystem::path& file);

/// tokens if there is `bases`, a BED that names bases and the value of `option`; else the task of --examples,
/// of which `manifest` is. Throws ConfigError, InputError.
std::string task_of_labels(const std::filesystem::path& bases, const char* option,
                           const std::filesystem::path& examples, const Json& manifest);

}  // namespace bigbird::cli
