// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/help_formatter.hpp"

#include <CLI/CLI.hpp>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace bigbird::cli {

/// Runs a command with its options and returns the exit code; errors are thrown as exceptions
/// (core/error.hpp).
template <typename Options>
using Runner = std::function<int(const Options&)>;

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

/// The command line: groups of commands, options that all commands share, and the conversion of errors to
/// messages and exit codes.
class Program {
public:
    Program();

    /// Adds a command and returns it with its options, which live as long as the program; the caller adds
    /// what writes into them. Options of every command are added automatically. `common`: the options that
    /// --help shows, with blanks between; empty: all. The lines of `examples` begin behind "bigbird-dna
    /// NAME". `finish` is called when the options are parsed.
    template <typename Options>
    std::pair<CLI::App&, Options&> add(const std::string& name, const std::string& group,
                                       const std::string& description, const std::string& common,
                                       std::vector<Example> examples, Runner<Options> run,
                                       std::function<void(CLI::App&, Options&)> finish = nullptr) {
        const auto options = std::make_shared<Options>();
        CLI::App& command = add_command(name, group, description, common, std::move(examples),
                                        [options, run = std::move(run)] { return run(*options); });
        if (finish)
            command.parse_complete_callback(
                [&command, options, finish = std::move(finish)] { finish(command, *options); });
        return {command, *options};
    }

    /// Adds a command NAME that forwards to one of the commands NAME-TASK, which are added separately.
    void add_verb(const std::string& name, const std::string& description, std::vector<Example> examples,
                  std::vector<std::string> tasks, std::function<std::string(const CLI::App&)> task_of);

    /// Parses and runs; every error becomes one sentence on standard error and its exit code. Flushes and
    /// checks standard output.
    int main(int argc, char** argv);

private:
    CLI::App& add_command(const std::string& name, const std::string& group, const std::string& description,
                          const std::string& common, std::vector<Example> examples, std::function<int()> run);
    int parse_and_run(int argc, char** argv);
    std::string usage_error(const CLI::ParseError& error, int argc, char** argv) const;
    /// Makes all commands read the options of every command, and checks that all options have descriptions.
    void finish_commands();
    /// Adds --options, --quiet and --verbose to the program, where they are shown, or to a command.
    void add_shared_options(CLI::App& app, const std::string& group);
    void finish_options(CLI::App& command);
    /// Parses the words. For a verb, parses them again as its door (Verb).
    void parse(std::vector<std::string> words);

    CLI::App app_;
    std::vector<Verb> verbs_;
    bool quiet_ = false, verbose_ = false;
    std::string options_file_;  // read before parsing; only for the help
    std::function<int()> chosen_;
};

/// The body of main(): handles signals, adds commands by `add` and runs one. Returns an exit code even after
/// errors.
int run_program(int argc, char** argv, const std::function<void(Program&)>& add);

/// The program of the commands that need LibTorch, beside this one.
inline constexpr const char* tensor_program = "bigbird-dna-tensors";

}  // namespace bigbird::cli
