// SPDX-License-Identifier: Apache-2.0
#include "manual/completion.hpp"

namespace bigbird::cli {

std::vector<CommandText> commands_of(const ProgramText& program) {
    std::vector<CommandText> commands;
    for (const CommandGroup& group : program.groups)
        commands.insert(commands.end(), group.commands.begin(), group.commands.end());
    for (CommandText& command : commands)
        command.groups.push_back(shared_options_of(program));
    return commands;
}

std::vector<OptionText> options_of(const CommandText& command) {
    std::vector<OptionText> options;
    for (const OptionGroup& group : command.groups)
        options.insert(options.end(), group.options.begin(), group.options.end());
    return options;
}

std::string spaced(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words)
        text += (text.empty() ? "" : " ") + word;
    return text;
}

}  // namespace bigbird::cli
