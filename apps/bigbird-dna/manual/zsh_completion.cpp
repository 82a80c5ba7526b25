// SPDX-License-Identifier: Apache-2.0
#include "manual/manual.hpp"

namespace bigbird::cli {

namespace {

constexpr const char* zsh_opening = R"(#compdef bigbird-dna
# zsh completion for bigbird-dna, written by `bigbird-dna completion zsh`.

_bigbird_dna_commands() {
    local -a commands=(
)";

constexpr const char* zsh_between = R"(    )
    _describe -t commands command commands
}

_bigbird_dna() {
    if ((CURRENT == 2)) && [[ $words[2] != -* ]]; then
        _bigbird_dna_commands
        return
    fi
    local command=$words[2]
    if ((CURRENT > 2)); then
        shift words
        ((CURRENT -= 1))
    else
        command=
    fi
    case $command in
)";

constexpr const char* zsh_closing = R"(    esac
}

# Called by compinit's autoloading, or sourced.
if [[ $funcstack[1] == _bigbird-dna ]]; then
    _bigbird_dna "$@"
else
    compdef _bigbird_dna bigbird-dna
fi
)";

/// `text` with a backslash before each of `special`, for within single quotes.
std::string escaped(const std::string& text, const std::string& special) {
    std::string result;
    for (const char letter : text) {
        if (special.find(letter) != std::string::npos) result += '\\';
        result += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
    }
    return result;
}

/// ":MESSAGE:ACTION", as _arguments wants it.
std::string action_of(const OptionText& option) {
    if (option.takes == Takes::nothing) return {};
    std::string action = "_files";
    if (option.takes == Takes::folder) action = "_files -/";
    if (option.takes == Takes::command) action = "_bigbird_dna_commands";
    if (option.takes == Takes::words) action = "(" + CLI::detail::join(option.words, " ") + ")";
    if (option.takes == Takes::file && !option.words.empty())
        action = "{_alternative \"words\\:word\\:(" + CLI::detail::join(option.words, " ") +
                 ")\" \"files\\:file\\:_files\"}";
    return ":" + escaped(option.value, ":\\") + ":" + action;
}

std::string option_spec(const std::string& name, const OptionText& option) {
    const bool long_value = option.takes != Takes::nothing && name.starts_with("--");
    return std::string("            '") + (option.repeats ? "*" : "") + name + (long_value ? "=" : "") + "[" +
           escaped(brief(option.description), "[]:\\") + "]" + action_of(option) + "' \\\n";
}

std::string command_case(const std::string& name, const CommandText& command) {
    std::string text = "        '" + name + "')\n            _arguments \\\n";
    for (const OptionText& option : options_of(command))
        for (const std::string& each : option.names)
            text += option_spec(each, option);
    for (const OptionText& argument : command.arguments)
        text += "            '" + std::string(argument.repeats ? "*" : "") + action_of(argument) + "' \\\n";
    return text.substr(0, text.size() - 3) + "\n            ;;\n";
}

}  // namespace

std::string zsh_completion(const ProgramText& program) {
    std::string commands, cases = command_case("", program.self);
    for (const CommandText& command : commands_of(program)) {
        commands += "        '" + command.name + ":" + escaped(brief(command.description), "\\") + "'\n";
        cases += command_case(command.name, command);
    }
    return zsh_opening + commands + zsh_between + cases + zsh_closing;
}

}  // namespace bigbird::cli
