// SPDX-License-Identifier: Apache-2.0
#include "manual/manual.hpp"
#include "support/help_formatter.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace bigbird::cli {

namespace {

constexpr std::size_t code_width = 110;

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
    return text;
}

/// Escapes text so that Markdown does not interpret it.
std::string escaped(std::string text) {
    for (const char* special : {"\\", "*", "<", "`"})
        text = replaced(std::move(text), special, std::string("\\") + special);
    return text;
}

/// A bar ends a table's cell, even within code.
std::string cell(const std::string& text) {
    return replaced(replaced(text, "\n", " "), "|", "\\|");
}

std::string code(const std::string& text) {
    return text.empty() ? std::string() : "`" + text + "`";
}

std::string names_of(const OptionText& option) {
    std::string names;
    for (const std::string& name : option.names)
        names += (names.empty() ? "" : ", ") + code(name);
    return names.empty() ? code(option.value) : names;
}

std::string option_row(const OptionText& option) {
    const std::string initial = option.required ? "required" : code(option.initial);
    return "| " + names_of(option) + " | " + cell(code(option.value)) + " | " + cell(initial) + " | " +
           cell(escaped(option.description)) + " |\n";
}

/// Rows of a command's table, below one with the name of their group.
std::string option_rows(const std::string& group, const std::vector<OptionText>& options) {
    std::string text = "| **" + group + "** | | | |\n";
    for (const OptionText& option : options)
        text += option_row(option);
    return text;
}

std::string example_text(const CommandText& command) {
    if (command.examples.empty()) return {};
    std::string text = std::string(examples_title) + "\n\n```bash\n";
    for (const Example& example : command.examples) {
        text += "# " + example.what + "\n";
        for (const std::string& line : shell_lines(example.line, code_width))
            text += line + "\n";
    }
    return text + "```\n\n";
}

/// "finetune without --members and --strand". scripts/workflow and scripts/checks read it, too.
std::string alias_text(const CommandText& alias, const CommandText& command) {
    const std::vector<OptionText> own = options_of(alias);
    std::vector<std::string> others;
    for (const OptionText& option : options_of(command))
        if (std::ranges::find(own, option.names, &OptionText::names) == own.end())
            others.push_back(names_of(option));
    return "### " + alias.name + "\n\n" + escaped(alias.description) + "\n\nOptions: those of [" +
           command.name + "](#" + command.name + ")" +
           (others.empty() ? "" : ", without " + CLI::detail::join(others, ", ")) + ".\n\n" +
           example_text(alias);
}

std::string command_text(const CommandText& command) {
    std::string text = "### " + command.name + "\n\n" + escaped(command.description) + "\n\n```\n" +
                       command.usage +
                       "\n```\n\n| option | value | default | description |\n|---|---|---|---|\n";
    if (!command.arguments.empty()) text += option_rows("Arguments", command.arguments);
    for (const OptionGroup& group : command.groups)
        text += option_rows(group.name, group.options);
    text += "\n";
    if (!command.notes.empty()) text += escaped(command.notes) + "\n\n";
    return text + example_text(command);
}

/// The table of contents. Links use the anchors that GitHub generates for headings.
std::string contents(const ProgramText& program) {
    std::string text = "| group | commands |\n|---|---|\n";
    for (const CommandGroup& group : program.groups) {
        std::string links;
        for (const CommandText& command : group.commands)
            links += (links.empty() ? "" : ", ") + ("[" + command.name + "](#" + command.name + ")");
        text += "| " + group.name + " | " + links + " |\n";
    }
    return text + "\n";
}

/// scripts/workflow and scripts/checks read these rows, too.
std::string shared_table(const ProgramText& program) {
    std::string text = std::string("## ") + shared_group +
                       "\n\nThey may precede the command or follow it.\n\n"
                       "| option | value | default | description |\n|---|---|---|---|\n";
    for (const OptionText& option : shared_options_of(program).options)
        text += option_row(option);
    return text + "\n";
}

std::string exit_table() {
    std::string text = "## Exit codes\n\n| code | meaning |\n|---|---|\n";
    for (const auto& [code, meaning] : exit_meanings)
        text += fmt::format("| {} | {} |\n", static_cast<int>(code), meaning);
    return text;
}

}  // namespace

std::string markdown_reference(const ProgramText& program) {
    std::string text = "# Commands\n\n<!-- Written by `bigbird-dna help --markdown`; do not edit. -->\n\n" +
                       escaped(program.self.description) + "\n\n```\n" + program.self.usage + "\n```\n\n" +
                       "Data go to standard output or `--output`, messages to standard error. `...` after a "
                       "value means that the option takes several.\n\n" +
                       contents(program) + shared_table(program);
    for (const CommandGroup& group : program.groups) {
        text += "## " + group.name + "\n\n";
        for (const CommandText& command : group.commands)
            text += command.alias_of.empty() ? command_text(command)
                                             : alias_text(command, command_of(program, command.alias_of));
    }
    return text + exit_table();
}

}  // namespace bigbird::cli
