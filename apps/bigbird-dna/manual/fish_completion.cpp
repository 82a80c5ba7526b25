// SPDX-License-Identifier: Apache-2.0
#include "manual/manual.hpp"

namespace bigbird::cli {

namespace {

std::string quoted(const std::string& text) {
    std::string result = "'";
    for (const char letter : text) {
        if (letter == '\'' || letter == '\\') result += '\\';
        result += letter;
    }
    return result + "'";
}

std::string fish_names_of(const OptionText& option) {
    std::string names;
    for (const std::string& name : option.names)
        names += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    return names;
}

/// -x: a value that is not a file name; -r: a value that may be a file name.
std::string values_of(const OptionText& option, const std::string& commands) {
    switch (option.takes) {
        case Takes::nothing:
            return {};
        case Takes::folder:
            return " -x -a '(__fish_complete_directories)'";
        case Takes::command:
            return " -x -a " + quoted(commands);
        case Takes::words:
            return " -x -a " + quoted(CLI::detail::join(option.words, " "));
        case Takes::file:
            break;
    }
    return option.words.empty() ? " -r" : " -r -a " + quoted(CLI::detail::join(option.words, " "));
}

std::string condition_of(const std::string& command) {
    return command.empty() ? "__fish_use_subcommand" : quoted("__fish_seen_subcommand_from " + command);
}

std::string option_lines(const std::string& name, const CommandText& command, const std::string& commands) {
    const std::string start = "complete -c bigbird-dna -n " + condition_of(name);
    std::string text;
    for (const OptionText& option : options_of(command))
        text += start + fish_names_of(option) + values_of(option, commands) + " -d " +
                quoted(brief(option.description)) + "\n";
    for (const OptionText& argument : command.arguments)
        if (argument.takes == Takes::words || argument.takes == Takes::command)
            text += start + " -f" + values_of(argument, commands).substr(3) + "\n";
    return text;
}

}  // namespace

std::string fish_completion(const ProgramText& program) {
    std::vector<std::string> names;
    for (const CommandText& command : commands_of(program))
        names.push_back(command.name);
    std::string text = "# fish completion for bigbird-dna, written by `bigbird-dna completion fish`.\n" +
                       option_lines("", program.self, {});
    for (const CommandText& command : commands_of(program)) {
        text += "complete -c bigbird-dna -n __fish_use_subcommand -f -a " + command.name + " -d " +
                quoted(brief(command.description)) + "\n";
        text += option_lines(command.name, command, CLI::detail::join(names, " "));
    }
    return text;
}

}  // namespace bigbird::cli
