// SPDX-License-Identifier: Apache-2.0
#include "manual/manual.hpp"
#include "support/help_formatter.hpp"

#include "bigbird/core/files.hpp"
#include "bigbird/core/version.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <ostream>

namespace bigbird::cli {

namespace {

constexpr std::size_t man_width = 76;

/// Returns the UTF-8 code point that begins at `at`, and moves `at` to its last byte.
std::uint32_t code_point(const std::string& text, std::size_t& at) {
    const auto lead = static_cast<unsigned char>(text[at]);
    const int following = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
    std::uint32_t point = lead & (0x3FU >> following);
    for (int i = 0; i < following && at + 1 < text.size(); ++i)
        point = point << 6 | (static_cast<unsigned char>(text[++at]) & 0x3FU);
    return point;
}

std::string roff_letter(const std::string& text, std::size_t& at) {
    const char letter = text[at];
    if (letter == '\\') return "\\e";
    if (letter == '-') return "\\-";
    if (letter == '\'') return "\\(aq";
    if (letter == '`') return "\\(ga";
    if (letter == '^') return "\\(ha";
    if (letter == '~') return "\\(ti";
    if (static_cast<unsigned char>(letter) < 0x80) return {letter};
    char name[16];
    std::snprintf(name, sizeof name, "\\[u%04X]", code_point(text, at));
    return name;
}

/// Escapes text so that roff prints it unchanged; a dot at the start of a line is then not a request.
std::string roff(const std::string& text) {
    std::string result = text.starts_with('.') ? "\\&" : "";
    for (std::size_t at = 0; at < text.size(); ++at) {
        result += roff_letter(text, at);
        if (text[at] == '\n' && at + 1 < text.size() && text[at + 1] == '.') result += "\\&";
    }
    return result;
}

std::string bold(const std::string& text) {
    return "\\fB" + roff(text) + "\\fR";
}

std::string upper(std::string text) {
    std::ranges::transform(text, text.begin(), [](unsigned char letter) { return std::toupper(letter); });
    return text;
}

std::string page_of(const std::string& command) {
    return "bigbird-dna-" + command;
}

std::string head(const std::string& page, const std::string& summary, const std::string& usage,
                 const std::string& description) {
    const std::string version = "bigbird-dna " + std::string(bigbird::version());
    return ".TH " + roff(upper(page)) + R"( 1 "" ")" + roff(version) + R"(" "bigbird-dna")" + "\n.SH NAME\n" +
           roff(page) + " \\- " + roff(summary) + "\n.SH SYNOPSIS\n" + bold(usage) + "\n.SH DESCRIPTION\n" +
           roff(description) + "\n";
}

std::string option_entry(const OptionText& option) {
    std::string text = ".TP\n";
    for (const std::string& name : option.names)
        text += (name == option.names.front() ? "" : ", ") + bold(name);
    if (!option.value.empty())
        text += (option.names.empty() ? "" : " ") + ("\\fI" + roff(option.value) + "\\fR");
    text += "\n" + roff(option.description);
    if (option.required) text += " (required)";
    if (!option.required && !option.initial.empty()) text += " [" + roff(option.initial) + "]";
    return text + "\n";
}

std::string option_sections(const CommandText& command) {
    std::string text = ".SH OPTIONS\n";
    for (const OptionText& argument : command.arguments)
        text += option_entry(argument);
    for (const OptionGroup& group : command.groups) {
        if (group.name != "Options") text += ".SS " + roff(group.name) + "\n";
        for (const OptionText& option : group.options)
            text += option_entry(option);
    }
    return text;
}

std::string example_section(const CommandText& command) {
    if (command.examples.empty()) return {};
    std::string text = std::string(".SH EXAMPLES\n") + roff(examples_title) + "\n";
    for (const Example& example : command.examples) {
        text += ".PP\n" + roff(example.what) + ":\n.PP\n.EX\n";
        for (const std::string& line : shell_lines(example.line, man_width))
            text += roff(line) + "\n";
        text += ".EE\n";
    }
    return text;
}

std::string exit_section() {
    std::string text = ".SH EXIT STATUS\n";
    for (const auto& [code, meaning] : exit_meanings)
        text += ".TP\n" + bold(std::to_string(static_cast<int>(code))) + "\n" + roff(meaning) + "\n";
    return text;
}

std::string command_list(const ProgramText& program) {
    std::string text = ".SH COMMANDS\n";
    for (const CommandGroup& group : program.groups) {
        text += ".SS " + roff(group.name) + "\n";
        for (const CommandText& command : group.commands)
            text += ".TP\n" + bold(page_of(command.name)) + "(1)\n" + roff(summary_of(command)) + "\n";
    }
    return text;
}

std::string notes_section(const CommandText& command) {
    if (command.notes.empty()) return {};
    std::string text = roff(command.notes);
    for (std::size_t at = text.find("\n\n"); at != std::string::npos; at = text.find("\n\n", at))
        text.replace(at, 2, "\n.PP\n");
    return ".SH NOTES\n" + text + "\n";
}

std::string page_text(const CommandText& command) {
    return head(page_of(command.name), summary_of(command), command.usage, command.description) +
           option_sections(command) + ".PP\n" + roff(shared_options) + ":\nsee " + bold("bigbird-dna") +
           "(1).\n" + notes_section(command) + exit_section() + example_section(command) + ".SH SEE ALSO\n" +
           bold("bigbird-dna") + "(1)\n";
}

}  // namespace

std::string program_man_page(const ProgramText& program) {
    return head(program.self.name, summary_of(program.self), program.self.usage, program.self.description) +
           option_sections(program.self) + command_list(program) + exit_section();
}

std::string command_man_page(const ProgramText& program, const std::string& name) {
    return page_text(command_of(program, name));
}

void write_man_pages(const ProgramText& program, const std::filesystem::path& folder) {
    const auto write = [&](const std::string& page, const std::string& text) {
        write_atomically(folder / (page + ".1"), Overwrite::refuse, [&](std::ostream& out) { out << text; });
    };
    write(program.self.name, program_man_page(program));
    for (const CommandGroup& group : program.groups)
        for (const CommandText& command : group.commands)
            write(page_of(command.name), page_text(command));
}

}  // namespace bigbird::cli
