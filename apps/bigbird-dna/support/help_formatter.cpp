// SPDX-License-Identifier: Apache-2.0
#include "support/help_formatter.hpp"

#include <sstream>

namespace bigbird::cli {

namespace {

constexpr std::size_t left_column = 34, line_width = 110;

std::string wrapped(const std::string& text) {
    std::istringstream words(text);
    std::string lines, word;
    std::size_t used = 0;
    while (words >> word) {
        const bool breaks = used > 0 && used + 1 + word.size() > line_width - left_column;
        lines += used == 0 ? "" : breaks ? "\n" : " ";
        used = used == 0 || breaks ? word.size() : used + 1 + word.size();
        lines += word;
    }
    return lines;
}

std::string default_of(const CLI::Option* option) {
    const std::string text = option->get_default_str();
    return text == "[]" || text == "\"\"" ? std::string() : text;
}

}  // namespace

HelpFormatter::HelpFormatter() {
    column_width(left_column);
}

std::string HelpFormatter::make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const {
    std::string text = CLI::Formatter::make_help(app, std::move(name), mode);
    for (std::size_t at = text.find("\n\n\n"); at != std::string::npos; at = text.find("\n\n\n")) {
        text.erase(at, 1);
    }
    return text;
}

std::string HelpFormatter::make_option_opts(const CLI::Option* option) const {
    if (option->get_type_size() == 0) {
        return {};
    }
    const bool many = option->get_expected_max() == CLI::detail::expected_max_vector_size;
    return " " + option->get_type_name() + (many ? " ..." : "");
}

std::string HelpFormatter::make_option_desc(const CLI::Option* option) const {
    const std::string value = option->get_type_size() == 0 ? std::string() : default_of(option);
    const std::string note = option->get_required() ? " (required)" : value.empty() ? "" : " [" + value + "]";
    return wrapped(option->get_description() + note);
}

std::string HelpFormatter::make_subcommand(const CLI::App* command) const {
    std::ostringstream out;
    CLI::detail::format_help(out, command->get_display_name(), wrapped(command->get_description()),
                             left_column);
    return out.str();
}

}  // namespace bigbird::cli
