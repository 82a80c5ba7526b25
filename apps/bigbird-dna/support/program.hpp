// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/verb.hpp"

#include <CLI/CLI.hpp>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace bigbird::cli {

/// Does a command's work with its options and returns the exit code; errors leave as exceptions
/// (core/error.hpp).
template <typename Options>
using Runner = std::function<int(const Options&)>;

/// The command line: commands in groups, the options that all share, and what errors turn into.
class Program {
public:
    Program();

    /// Adds a command; the caller then adds options that write into *options. --quiet and --verbose are added
    /// automatically.
    template <typename Options>
    CLI::App& add(const std::string& name, const std::string& group, const std::string& description,
                  std::shared_ptr<Options> options, Runner<Options> run) {
        return add_command(name, group, description,
                           [options = std::move(options), run = std::move(run)] { return run(*options); });
    }

    /// Adds a command that is one of NAME-TASK, which are added besides.
    CLI::App& add_verb(const std::string& name, const std::string& group, const std::string& description,
                       std::vector<std::string> tasks, std::function<std::string(const CLI::App&)> task_of);

    /// This program was started by another that parsed the same and has given its warnings.
    void is_handed_over() { handed_over_ = true; }

    /// Parses and runs; every error becomes one sentence on standard error and its exit code. Flushes and
    /// checks standard output.
    int main(int argc, char** argv);

private:
    CLI::App& add_command(const std::string& name, const std::string& group, const std::string& description,
                          std::function<int()> run);
    int parse_and_run(int argc, char** argv);
    std::string usage_error(const CLI::ParseError& error, int argc, char** argv) const;
    /// Adds what all commands have and sees that everything is described.
    void finish_commands();
    void finish_options(CLI::App& command);
    /// Parses the words; for a verb parses again as its door.
    void parse(std::vector<std::string> words);

    CLI::App app_;
    std::vector<Verb> verbs_;
    bool quiet_ = false, verbose_ = false, handed_over_ = false;
    std::string options_file_;  // read before parsing; only for the help
    std::function<int()> chosen_;
};

/// The body of main(): handles signals, adds commands by `add` and runs one. Returns the exit code, whatever
/// fails.
int run_program(int argc, char** argv, const std::function<void(Program&)>& add);

}  // namespace bigbird::cli
