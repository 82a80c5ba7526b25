// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

#include <functional>
#include <string>
#include <vector>

namespace bigbird::cli {

/// A command that forwards to one of several others, its doors, according to the task. For example, predict
/// runs predict-chromatin if the model is a chromatin model. The door parses the arguments and runs.
/// Defaults, messages and results are therefore the door's.
struct Verb {
    CLI::App* command;
    std::vector<std::string>
        tasks;  ///< its doors are named NAME-TASK; the first supplies shared descriptions
    /// The task of a parsed command line of the verb. Throws Error.
    std::function<std::string(const CLI::App&)> task_of;
};

/// Adds every option of the doors (Verb) to the verb once. The help notes which doors lack an option or use
/// another default.
void take_options_of_doors(const Verb& verb, CLI::App& program);

/// The name of the door (Verb) that the parsed command line selects. Throws ConfigError if that door lacks a
/// given option, or if no door exists for the task.
std::string door_of(const Verb& verb, CLI::App& program);

}  // namespace bigbird::cli
