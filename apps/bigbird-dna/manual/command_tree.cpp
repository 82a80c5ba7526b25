// SPDX-License-Identifier: Apache-2.0
#include "manual/manual.hpp"

#include <algorithm>
#include <cctype>
#include <sstream>

namespace bigbird::cli {

namespace {

/// "auto|never|PATH": the words auto and never, and files; capitals mark what the user chooses.
void set_values(OptionText& option) {
    std::istringstream parts(option.value.substr(0, option.value.find(' ')));
    bool free = false;
    for (std::string part; std::getline(parts, part, '|');) {
        const bool is_word = part != "-" && std::ranges::none_of(part, [](unsigned char letter) {
                                 return std::isupper(letter) != 0;
                             });
        if (is_word) option.words.push_back(part);
        free = free || !is_word;
    }
    const bool folder = option.value == "DIR" || option.value == "DIR ...";
    option.takes = option.value == "COMMAND" ? Takes::command
                   : folder                  ? Takes::folder
                   : free                    ? Takes::file
                                             : Takes::words;
}

OptionText describe(const CLI::Option& option) {
    OptionText text;
    for (const std::string& name : option.get_snames())
        text.names.push_back("-" + name);
    for (const std::string& name : option.get_lnames())
        text.names.push_back("--" + name);
    text.value = shown_value(option);
    text.initial = shown_default(option);
    text.description = option.get_description();
    text.required = option.get_required();
    text.repeats = option.get_expected_max() == CLI::detail::expected_max_vector_size;
    if (!text.value.empty()) set_values(text);
    return text;
}

std::vector<OptionGroup> option_groups(const CLI::App& command) {
    std::vector<OptionGroup> groups;
    for (const std::string& name : command.get_groups()) {
        if (name.empty() || name == hidden_group) continue;
        OptionGroup group{name, {}};
        for (const CLI::Option* option : command.get_options(
                 [&](const CLI::Option* each) { return each->get_group() == name && each->nonpositional(); }))
            group.options.push_back(describe(*option));
        if (!group.options.empty()) groups.push_back(std::move(group));
    }
    return groups;
}

/// The line of the help, without its "Usage: ".
std::string usage_of(const CLI::App& command, const std::string& name) {
    const std::string line = HelpFormatter().make_usage(&command, name);
    return line.substr(line.find(": ") + 2, line.find('\n') - line.find(": ") - 2);
}

CommandText describe(const CLI::App& command, const std::string& called) {
    CommandText text{
        command.get_name(), command.get_description(), usage_of(command, called), {}, {}, {}, {}};
    const CLI::App* parent = command.get_parent();
    if (parent != nullptr && command.get_footer() != parent->get_footer()) text.notes = command.get_footer();
    for (const CLI::Option* option :
         command.get_options([](const CLI::Option* each) { return each->get_positional(); }))
        text.arguments.push_back(describe(*option));
    text.groups = option_groups(command);
    text.examples = help_notes(command).examples;
    return text;
}

CommandGroup& group_of(std::vector<CommandGroup>& groups, const std::string& name) {
    const auto found = std::ranges::find(groups, name, &CommandGroup::name);
    return found != groups.end() ? *found : groups.emplace_back(CommandGroup{name, {}});
}

}  // namespace

ProgramText describe_program(const CLI::App& root) {
    ProgramText program{describe(root, root.get_name()), {}};
    for (const CLI::App* command : root.get_subcommands({}))
        group_of(program.groups, command->get_group())
            .commands.push_back(describe(*command, root.get_name() + " " + command->get_name()));
    return program;
}

OptionGroup shared_options_of(const ProgramText& program) {
    return *std::ranges::find(program.self.groups, std::string(shared_group), &OptionGroup::name);
}

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

std::string summary_of(const CommandText& command) {
    return first_sentence(command.description);
}

std::string brief(const std::string& description, std::size_t width) {
    std::string text = description;
    for (const char* end : {"\n", ". ", "; ", ": "})
        text = text.substr(0, text.find(end));
    if (text.size() <= width) return text;
    text = text.substr(0, text.rfind(' ', width));
    return text.substr(0, text.find_last_not_of(" ,(") + 1);
}

}  // namespace bigbird::cli
