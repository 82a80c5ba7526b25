// SPDX-License-Identifier: Apache-2.0
#include "support/help_notes.hpp"

#include "support/help_formatter.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace bigbird::cli {

HelpNotes help_notes(const CLI::App& command) {
    const auto formatter = std::dynamic_pointer_cast<HelpFormatter>(command.get_formatter());
    return formatter ? formatter->notes() : HelpNotes{};
}

void add_examples(CLI::App& command, const Examples& examples) {
    HelpNotes notes = help_notes(command);
    notes.examples.assign(examples.begin(), examples.end());
    command.formatter(std::make_shared<HelpFormatter>(std::move(notes)));
}

void show_first(CLI::App& command, std::vector<std::string> options) {
    HelpNotes notes = help_notes(command);
    notes.common = std::move(options);
    command.formatter(std::make_shared<HelpFormatter>(std::move(notes)));
    command.set_help_all_flag("--help-all", "Print every option and exit")
        ->group("");  // the last line of the help mentions it
}

std::vector<std::string> shell_lines(const std::string& line, std::size_t width) {
    constexpr std::size_t backslash = 2;  // backslash and blank
    std::vector<std::string> lines(1);
    for (std::size_t begin = 0; begin < line.size();) {
        const std::size_t end = std::min(line.find(" --", begin + 1), line.size());
        const std::string option = line.substr(begin, end - begin);  // the blank before it, and its values
        if (begin > 0 && lines.back().size() + option.size() + backslash > width) {
            lines.back() += " \\";
            lines.emplace_back("   ");
        }
        lines.back() += option;
        begin = end;
    }
    return lines;
}

}  // namespace bigbird::cli
