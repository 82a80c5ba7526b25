// SPDX-License-Identifier: Apache-2.0
// The help of commands: its layout, the options that it shows first, and its examples.
#pragma once

#include "bigbird/core/error.hpp"

#include <CLI/CLI.hpp>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace bigbird::cli {

/// A command line that works unchanged in the folder that scripts/demo fills, and what it does.
struct Example {
    std::string what;
    std::string line;  ///< begins with "bigbird-dna"; quoted as for a shell
};

/// Where the examples' files are.
inline constexpr const char* examples_title = "Examples, in the folder that scripts/demo fills:";

/// The options that every command takes, and their group in the program's help.
inline constexpr const char* shared_group = "Options of every command";
inline constexpr const char* shared_options =
    "Every command also takes --threads N, --force, --options FILE, --quiet and --verbose";
/// Names of those that commands read in their own ways.
inline constexpr const char *threads_option = "-t,--threads", *force_option = "-f,--force";
inline constexpr int most_threads = 1024;

/// Groups of commands of which the program's help shows only the names: those for one task, and tools.
inline constexpr const char *task_group = "One task", *rare_group = "Rarely needed";

/// A description up to its first line break or the end of its first sentence, without the dot.
std::string first_sentence(const std::string& description);

/// "Exit codes: 0 ...", in lines of at most `width`.
std::string exit_codes_text(std::size_t width);

/// The group of options that are read but not shown. CLI11's own, "", takes their names out of errors.
inline constexpr const char* hidden_group = "Hidden";

inline bool is_hidden(const CLI::Option& option) {
    return option.get_group().empty() || option.get_group() == hidden_group;
}

/// The meanings of the exit codes, for --help, the reference and the man pages.
inline constexpr std::pair<ExitCode, const char*> exit_meanings[] = {
    {ExitCode::success, "complete output"},
    {ExitCode::usage, "usage"},
    {ExitCode::bad_input, "bad input"},
    {ExitCode::device, "device or out of memory"},
    {ExitCode::bug, "bug"},
    {ExitCode::write_failed, "write failed"},
    {ExitCode::stopped_early, "stopped early and resumable"},
    {ExitCode::hung_up, "SIGHUP"},
    {ExitCode::interrupted, "SIGINT"},
    {ExitCode::user_signal, "SIGUSR1"},
    {ExitCode::user_signal2, "SIGUSR2"},
    {ExitCode::reader_gone, "standard output was closed"},
    {ExitCode::terminated, "SIGTERM"},
    {ExitCode::out_of_time, "SIGXCPU"},
};

/// Another name of a command, for one of its tasks.
struct Alias {
    std::string name, task, description;
    std::vector<Example> examples;
};

/// What a command's help shows besides its options.
struct HelpNotes {
    std::vector<std::string> common;  ///< options that --help shows; --help-all shows all. Empty: all
    std::vector<Example> examples;    ///< at the end of the help, the man page and the part of the reference
    std::vector<Alias> aliases{};     ///< one for each task, of commands of several tasks
    std::map<std::string, std::string>
        tasks{};         ///< of options that only some tasks have: "chromatin, tokens"
    std::string task{};  ///< of the alias that was called; empty: none
};

/// Whether a command's option has an effect for a task; "": for any.
bool is_for(const HelpNotes& notes, const CLI::Option& option, const std::string& task);

/// The option's description in the help for a task; "": with the tasks, if only some have it.
std::string description_of(const HelpNotes& notes, const CLI::Option& option, const std::string& task);

/// Sets the notes of a command.
void set_help(CLI::App& command, HelpNotes notes);

/// The notes of a command, which can be changed.
HelpNotes& help_notes(const CLI::App& command);

/// Whether the help of the command, as it was called, has the option.
bool is_shown(const CLI::App& command, const CLI::Option& option);

/// Breaks `line` before options into lines of at most `width` if possible, with the shell's backslash at the
/// ends.
std::vector<std::string> shell_lines(const std::string& line, std::size_t width);

/// The default that the help shows for an option; empty if there is none.
std::string shown_default(const CLI::Option& option);

/// The kind of value of an option, followed by " ..." if it takes several; empty for a flag.
std::string shown_value(const CLI::Option& option);

/// Formats help in two columns: an option and its kind of value on the left, its wrapped description and
/// default on the right; examples follow at the end. Clear the validators' descriptions first, or CLI11 makes
/// them part of the kind.
class HelpFormatter : public CLI::Formatter {
public:
    explicit HelpFormatter(HelpNotes notes = {});
    HelpNotes& notes() { return notes_; }

    std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
    std::string make_group(std::string group, bool is_positional,
                           std::vector<const CLI::Option*> options) const override;
    std::string make_footer(const CLI::App* app) const override;
    std::string make_option_opts(const CLI::Option* option) const override;
    std::string make_option_desc(const CLI::Option* option) const override;

private:
    std::string make_overview(const CLI::App& program) const;
    bool is_common(const CLI::Option& option) const;
    std::string make_common_groups(const CLI::App& app) const;

    HelpNotes notes_;
};

}  // namespace bigbird::cli
