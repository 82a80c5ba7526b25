// SPDX-License-Identifier: Apache-2.0
// help and completion.
#include "commands/commands.hpp"
#include "manual/manual.hpp"
#include "support/tasks.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>

namespace bigbird::cli {

struct CompletionOptions {
    std::string shell;
    const CLI::App* tree = nullptr;  ///< the program's command line
};

struct HelpOptions {
    std::string command;
    bool markdown = false, man = false;
    OutputOptions output;
    CLI::App* tree = nullptr;  ///< the program's command line
};

namespace {

std::string plain_help(const HelpOptions& options) {
    take_alias(*options.tree, options.command);
    const CLI::App* command =
        options.command.empty() ? options.tree : options.tree->get_subcommand(options.command);
    const std::string name =
        options.tree->get_name() + (options.command.empty() ? "" : " " + options.command);
    return command->get_formatter()->make_help(command, name, CLI::AppFormatMode::Normal);
}

std::string help_text(const HelpOptions& options) {
    if (options.markdown) return markdown_reference(describe_program(*options.tree));
    if (!options.man) return plain_help(options);
    const ProgramText program = describe_program(*options.tree);
    return options.command.empty() ? program_man_page(program) : command_man_page(program, options.command);
}

int run_help(const HelpOptions& options) {
    const bool to_file = options.output.output != "-";
    if (options.man && options.command.empty() && to_file)
        options.output.make_folder([&](const std::filesystem::path& folder) {
            write_man_pages(describe_program(*options.tree), folder);
        });
    else
        options.output.write(help_text(options));
    return 0;
}

constexpr Choices<std::string (*)(const ProgramText&), 3> scripts{
    {{bash_completion, "bash"}, {zsh_completion, "zsh"}, {fish_completion, "fish"}}};

int run_completion(const CompletionOptions& options) {
    const auto script = parse_choice(scripts, "shell", options.shell);
    std::fputs(script(describe_program(*options.tree)).c_str(), stdout);
    return 0;
}

}  // namespace

void setup_completion(Program& program) {
    const auto [command, options] = program.add<CompletionOptions>(
        "completion", rare_group, "Print a script for completion of command lines in a shell", "",
        {{"Completion script for bash", "bash"},
         {"The same for zsh; as a file it is _bigbird-dna in a folder of fpath", "zsh"}},
        run_completion);
    command.footer(
        "Switch it on in ~/.bashrc: source <(bigbird-dna completion bash)\n\nIn ~/.zshrc, after compinit: "
        "source <(bigbird-dna completion zsh)\n\nIn ~/.config/fish/config.fish: bigbird-dna completion fish "
        "| source");
    options.tree = command.get_parent();
    add_choice_option(command, "shell", options.shell, {"bash", "zsh", "fish"}, "The shell")->required();
}

void setup_help(Program& program) {
    const auto [command, options] = program.add<HelpOptions>(
        "help", rare_group, "Print help, the reference of all commands, or pages of the manual", "",
        {{"Manual page of finetune-chromatin", "--man finetune-chromatin --output finetune-chromatin.1"},
         {"Every command and option in one Markdown file", "--markdown --output commands.md"}},
        run_help);
    options.tree = command.get_parent();
    CLI::Option* about =
        add_value(command, "command", "COMMAND", options.command, "Command to explain; default: the program",
                  [names = command_names(*options.tree)](const std::string& word) {
                      const bool is_known = std::ranges::find(names, word) != names.end();
                      return is_known ? std::string() : "there is no command '" + word + "'";
                  });
    CLI::Option* markdown =
        command.add_flag("--markdown", options.markdown, "Print the reference of all commands, in Markdown")
            ->excludes(about);
    command
        .add_flag("--man", options.man,
                  "Print the manual page, in roff; without COMMAND and with --output, a folder of all pages")
        ->excludes(markdown);
    add_stream_output_options(command, options.output, "File to write; - is standard output");
}

}  // namespace bigbird::cli
