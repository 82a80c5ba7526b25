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

/// The command line: groups of commands, options that all commands share, and the conversion of errors to
/// messages and exit codes.
class Program {
public:
    Program();

    /// Adds a command and returns it with its options, which live as long as the program; the caller adds
    /// what writes into them. Options of every command are added automatically. `common`: the options that
    /// --help shows, with blanks between; empty: all. The lines of `examples` begin behind "bigbird-dna
    /// NAME". `finish` is called when the command line is parsed: it throws what CLI11 cannot see, and takes
    /// defaults that depend on other options.
    template <typename Options>
    std::pair<CLI::App&, Options&> add(const std::string& name, const std::string& group,
                                       const std::string& description, const std::string& common,
                                       std::vector<Example> examples, Runner<Options> run,
                                       std::function<void(CLI::App&, Options&)> finish = nullptr) {
        const auto options = std::make_shared<Options>();
        CLI::App& command = add_command(name, group, description, common, std::move(examples));
        command.callback([this, &command, options, run = std::move(run), finish = std::move(finish)] {
            finish_ = [&command, options, finish] {
                if (finish) finish(command, *options);
            };
            run_ = [options, run] { return run(*options); };
        });
        return {command, *options};
    }

    /// Parses and runs; every error becomes one sentence on standard error and its exit code. Flushes and
    /// checks standard output.
    int main(int argc, char** argv);

private:
    CLI::App& add_command(const std::string& name, const std::string& group, const std::string& description,
                          const std::string& common, std::vector<Example> examples);
    int parse_and_run(int argc, char** argv);
    std::string usage_error(const CLI::ParseError& error, int argc, char** argv) const;
    /// Makes all commands read the options of every command, and checks that all options have descriptions.
    void finish_commands();
    /// Adds the options of every command to the program, where they are shown, or to a command. A command
    /// that has no use for --threads or --force takes them, too.
    void add_shared_options(CLI::App& app, const std::string& group);
    void finish_options(CLI::App& command);

    CLI::App app_;
    bool quiet_ = false, verbose_ = false;
    bool force_ = false;  // as threads_: of commands that have no use for it
    int threads_ = 0;
    std::string options_file_;      // read before parsing; only for the help
    std::function<void()> finish_;  // of the parsed command, as run_
    std::function<int()> run_;
};

/// The body of main(): handles signals, adds commands by `add` and runs one. Returns an exit code even after
/// errors.
int run_program(int argc, char** argv, const std::function<void(Program&)>& add);

/// The program of the commands that need LibTorch, beside this one.
inline constexpr const char* tensor_program = "bigbird-dna-tensors";

}  // namespace bigbird::cli
