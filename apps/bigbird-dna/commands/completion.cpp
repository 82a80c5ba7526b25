// SPDX-License-Identifier: Apache-2.0
#include "commands/commands.hpp"
#include "manual/manual.hpp"

#include <memory>
#include <string>

namespace bigbird::cli {

struct CompletionOptions {
    std::string shell;
    OutputOptions output;
    const CLI::App* tree = nullptr;  ///< the program's command line
};

namespace {

constexpr Choices<std::string (*)(const ProgramText&), 3> scripts{
    {{bash_completion, "bash"}, {zsh_completion, "zsh"}, {fish_completion, "fish"}}};

int run_completion(const CompletionOptions& options) {
    const auto script = parse_choice(scripts, "shell", options.shell);
    options.output.write(script(describe_program(*options.tree)));
    return 0;
}

}  // namespace

void setup_completion(Program& program) {
    const auto options = std::make_shared<CompletionOptions>();
    CLI::App& command = program.add(
        "completion", "Help", "Print a script with which a shell completes commands, options and values",
        options, run_completion);
    command.footer(
        "Switch it on in ~/.bashrc: source <(bigbird-dna completion bash)\n\nIn ~/.zshrc, after compinit: "
        "source <(bigbird-dna completion zsh)\n\nIn ~/.config/fish/config.fish: bigbird-dna completion fish "
        "| source");
    options->tree = command.get_parent();
    add_choice_option(command, "shell", options->shell, {"bash", "zsh", "fish"}, "The shell")->required();
    add_stream_output_options(command, options->output, "Script to write; - is standard output");
    set_help(command, {{},
                       {{"Completion script for bash", "bigbird-dna completion bash"},
                        {"The same for zsh; as a file it is _bigbird-dna in a folder of fpath",
                         "bigbird-dna completion zsh"}}});
}

}  // namespace bigbird::cli
