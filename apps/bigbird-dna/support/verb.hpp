// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

#include <functional>
#include <string>
#include <vector>

namespace bigbird::cli {

/// A command that forwards to one of several others, its doors, by task: predict runs predict-chromatin where
/// the model is one of chromatin. Its arguments are parsed and run by the door, so that defaults, messages
/// and results are the door's.
struct Verb {
    CLI::App* command;
    std::vector<std::string> tasks;  ///< its doors are called NAME-TASK; the first describes what all have
    /// The task of a parsed command line of the verb. Throws Error.
    std::function<std::string(const CLI::App&)> task_of;
};

/// Gives the verb the options of its doors, each once. The help notes options that some doors lack or give
/// another default.
void take_options_of_doors(const Verb& verb, CLI::App& program);

/// The name of the door that the parsed verb asks for. Throws ConfigError where an option is given that this
/// door does not have, or where there is no door for the task.
std::string door_of(const Verb& verb, CLI::App& program);

}  // namespace bigbird::cli
