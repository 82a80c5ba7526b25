// SPDX-License-Identifier: Apache-2.0
#include "manual/manual.hpp"

#include "bigbird/core/choice.hpp"

namespace bigbird::cli {

namespace {

constexpr const char* title =
    "# bash completion for bigbird-dna, written by `bigbird-dna completion bash`.\n\n";

constexpr const char* opening = R"(
# What COMMAND takes: sets options.
_bigbird_dna_options() {
    case $1 in
)";

constexpr const char* between = R"(        *) options= ;;
    esac
}

# What an option of COMMAND, or without one an argument, takes: sets kind (none, words, folder, file), many and words.
_bigbird_dna_values() {
    kind=file many= words=
    case $1:$2 in
)";

constexpr const char* closing = R"(    esac
}

# Offers the values of the kind that was set.
_bigbird_dna_offer() {
    local found=
    [[ -n $words ]] && found=$(compgen -W "$words" -- "$1")
    case $kind in
        folder) found+=$'\n'$(compgen -d -- "$1") ;;
        file) found+=$'\n'$(compgen -f -- "$1") ;;
    esac
    if [[ $kind != words ]]; then compopt -o filenames 2>/dev/null; fi
    local line
    while IFS= read -r line; do
        if [[ -n $line ]]; then COMPREPLY+=("$line"); fi
    done <<<"$found"
}

_bigbird_dna() {
    local current=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} at=$((COMP_CWORD - 1))
    local options kind many words commands=$_bigbird_dna_commands
    COMPREPLY=()
    # Readline takes the = of --option=value for a word.
    if [[ $current == = ]]; then current=; elif [[ ${COMP_WORDS[at]} == = ]]; then ((at -= 1)); fi
    if ((COMP_CWORD == 1)); then command=; fi
    _bigbird_dna_options "$command"
    if [[ $current == -* || $COMP_CWORD == 1 ]]; then
        kind=words words=$options
        if [[ -z $command && $current != -* ]]; then words=$commands; fi
        _bigbird_dna_offer "$current"
        return
    fi
    # The option that the word belongs to: the one before it, or one further back that takes several values.
    local last=$at
    while ((at > 1)) && [[ ${COMP_WORDS[at]} != --* ]]; do ((at -= 1)); done
    if ((at > 1)); then
        _bigbird_dna_values "$command" "${COMP_WORDS[at]}"
        if [[ $kind != none ]] && { ((at == last)) || [[ -n $many ]]; }; then
            _bigbird_dna_offer "$current"
            return
        fi
    fi
    _bigbird_dna_values "$command" ''
    if [[ $kind == none ]]; then kind=words words=$options; fi
    _bigbird_dna_offer "$current"
}

complete -F _bigbird_dna bigbird-dna
)";

std::string options_case(const std::string& command, const CommandText& text) {
    std::vector<std::string> names;
    for (const OptionText& option : options_of(text))
        names.insert(names.end(), option.names.begin(), option.names.end());
    return "        '" + command + "') options='" + CLI::detail::join(names, " ") + "' ;;\n";
}

constexpr Choices<Takes, 5> kinds{{{Takes::nothing, "none"},
                                   {Takes::words, "words"},
                                   {Takes::folder, "folder"},
                                   {Takes::file, "file"},
                                   {Takes::command, "words"}}};

/// Empty for an option whose values are file names, the default.
std::string values_case(const std::string& command, const std::string& name, const OptionText& option) {
    std::string settings = "kind=" + std::string(word_of(kinds, option.takes));
    if (option.repeats) settings += " many=yes";
    if (!option.words.empty()) settings += " words='" + CLI::detail::join(option.words, " ") + "'";
    if (option.takes == Takes::command) settings += " words=$commands";
    if (settings == "kind=file") return {};
    return "        " + command + ":" + name + ") " + settings + " ;;\n";
}

std::string values_cases(const CommandText& command) {
    std::string text;
    for (const OptionText& option : options_of(command))
        for (const std::string& name : option.names)
            text += values_case(command.name, name, option);
    for (const OptionText& argument : command.arguments)
        text += values_case(command.name, "", argument);
    if (command.arguments.empty()) text += values_case(command.name, "", {});
    return text;
}

}  // namespace

std::string bash_completion(const ProgramText& program) {
    std::vector<std::string> names;
    std::string options, values;
    for (const CommandText& command : commands_of(program)) {
        names.push_back(command.name);
        options += options_case(command.name, command);
        values += values_cases(command);
    }
    return std::string(title) + "_bigbird_dna_commands='" + CLI::detail::join(names, " ") + "'\n" + opening +
           options_case("", program.self) + options + between + values + closing;
}

}  // namespace bigbird::cli
