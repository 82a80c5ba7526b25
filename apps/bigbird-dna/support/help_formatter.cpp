// SPDX-License-Identifier: Apache-2.0
#include "support/help_formatter.hpp"

#include <algorithm>
#include <memory>
#include <sstream>
#include <utility>

namespace bigbird::cli {

namespace {

constexpr std::size_t left_column = 34, line_width = 110;
constexpr std::size_t overview_column = 20, overview_width = 90;

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

/// "{finetune,predict}-{promoter,chromatin}": the aliases of commands that all have the same tasks.
std::string aliases_of(const CLI::App& program) {
    std::string names, tasks;
    for (const CLI::App* command : program.get_subcommands({})) {
        const std::vector<Alias>& aliases = help_notes(*command).aliases;
        if (aliases.empty() || command->get_name().find('-') != std::string::npos) continue;
        names += (names.empty() ? "" : ",") + command->get_name();
        tasks.clear();
        for (const Alias& alias : aliases)
            tasks += (tasks.empty() ? "" : ",") + alias.task;
    }
    return "{" + names + "}-{" + tasks + "}";
}

}  // namespace

std::string first_sentence(const std::string& description) {
    const std::string line = description.substr(0, description.find('\n'));
    const std::string sentence = line.substr(0, line.find(". "));
    return sentence.ends_with('.') ? sentence.substr(0, sentence.size() - 1) : sentence;
}

std::string exit_codes_text(std::size_t width) {
    std::string text = "Exit codes:";
    std::size_t used = text.size();
    for (const auto& [code, meaning] : exit_meanings) {
        const bool is_last = code == std::rbegin(exit_meanings)->first;
        const std::string entry =
            std::to_string(static_cast<int>(code)) + " " + meaning + (is_last ? "." : ",");
        const bool breaks = used + 1 + entry.size() > width;
        text += (breaks ? "\n" : " ") + entry;
        used = breaks ? entry.size() : used + 1 + entry.size();
    }
    return text;
}

void set_help(CLI::App& command, HelpNotes notes) {
    command.formatter(std::make_shared<HelpFormatter>(std::move(notes)));
}

HelpNotes& help_notes(const CLI::App& command) {
    return std::dynamic_pointer_cast<HelpFormatter>(command.get_formatter())->notes();
}

bool is_for(const HelpNotes& notes, const CLI::Option& option, const std::string& task) {
    const auto found = notes.tasks.find(option.get_name());
    return task.empty() || found == notes.tasks.end() ||
           (", " + found->second + ",").find(", " + task + ",") != std::string::npos;
}

std::string description_of(const HelpNotes& notes, const CLI::Option& option, const std::string& task) {
    const auto found = notes.tasks.find(option.get_name());
    const bool all = found == notes.tasks.end() || !task.empty();
    return option.get_description() + (all ? "" : " (" + found->second + ")");
}

bool is_shown(const CLI::App& command, const CLI::Option& option) {
    const HelpNotes& notes = help_notes(command);
    return !is_hidden(option) && is_for(notes, option, notes.task);
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

std::string shown_default(const CLI::Option& option) {
    std::string text = option.get_type_size() == 0 ? std::string() : option.get_default_str();
    if (text.starts_with('[') &&
        text.ends_with(']')) {  // CLI11's list in brackets; defaults are shown in brackets anyway
        text = text.substr(1, text.size() - 2);
        std::ranges::replace(text, ',', ' ');
    }
    return text == "\"\"" ? std::string() : text;
}

std::string shown_value(const CLI::Option& option) {
    if (option.get_type_size() == 0) return {};
    const bool many = option.get_expected_max() == CLI::detail::expected_max_vector_size;
    return option.get_type_name() + (many ? " ..." : "");
}

HelpFormatter::HelpFormatter(HelpNotes notes) : notes_(std::move(notes)) {
    column_width(left_column);
}

std::string HelpFormatter::make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const {
    if (app->get_parent() == nullptr && mode == CLI::AppFormatMode::Normal) return make_overview(*app);
    const bool folds = mode == CLI::AppFormatMode::Normal && !notes_.common.empty();
    std::string text = folds ? make_description(app) + make_usage(app, name) + make_positionals(app) +
                                   make_common_groups(*app) + "\n" + make_footer(app)
                             : CLI::Formatter::make_help(app, name, mode);
    for (std::size_t at = text.find("\n\n\n"); at != std::string::npos; at = text.find("\n\n\n"))
        text.erase(at, 1);
    return text;
}

bool HelpFormatter::is_common(const CLI::Option& option) const {
    const std::string name = "--" + (option.get_lnames().empty() ? "" : option.get_lnames().front());
    return name.starts_with("--help") || std::ranges::find(notes_.common, name) != notes_.common.end();
}

/// Groups with options that only the alias's task has come behind the first.
std::string HelpFormatter::make_common_groups(const CLI::App& app) const {
    std::string text;
    std::size_t shown = 0;
    std::vector<std::string> groups = app.get_groups();
    std::stable_partition(groups.begin() + 1, groups.end(), [&](const std::string& group) {
        return !app.get_options([&](const CLI::Option* option) {
                       const auto found = notes_.tasks.find(option->get_name());
                       return option->get_group() == group && found != notes_.tasks.end() &&
                              found->second == notes_.task;
                   })
                    .empty();
    });
    for (const std::string& group : groups) {
        const auto options = app.get_options([&](const CLI::Option* option) {
            return option->get_group() == group && is_common(*option) && is_shown(app, *option);
        });
        if (options.empty()) continue;
        text += make_group(group, false, {options.begin(), options.end()}) + "\n";
        shown += options.size();
    }
    const auto visible = [&](const CLI::Option* option) { return is_shown(app, *option); };
    const std::size_t rare = app.get_options(visible).size() - shown;
    return text + "\n" + std::to_string(rare) + " more options: bigbird-dna " + app.get_name() +
           " --help-all\n";
}

std::string HelpFormatter::make_footer(const CLI::App* app) const {
    std::string text = CLI::Formatter::make_footer(app);
    if (!notes_.examples.empty()) text += std::string("\n") + examples_title + "\n";
    for (const Example& example : notes_.examples) {
        text += "  # " + example.what + "\n";
        for (const std::string& line : shell_lines(example.line, line_width - 2))
            text += "  " + line + "\n";
    }
    if (app->get_parent() != nullptr)
        text += std::string("\n") + shared_options + " (see bigbird-dna --help).\n";
    return text;
}

std::string HelpFormatter::make_group(std::string group, bool is_positional,
                                      std::vector<const CLI::Option*> options) const {
    std::erase_if(options, [&](const CLI::Option* option) {
        return is_hidden(*option) || !is_for(notes_, *option, notes_.task);
    });
    return options.empty() ? std::string()
                           : CLI::Formatter::make_group(std::move(group), is_positional, std::move(options));
}

std::string HelpFormatter::make_option_opts(const CLI::Option* option) const {
    const std::string value = shown_value(*option);
    return value.empty() ? std::string() : " " + value;
}

std::string HelpFormatter::make_option_desc(const CLI::Option* option) const {
    const std::string value = shown_default(*option);
    const std::string note = option->get_required() ? " (required)" : value.empty() ? "" : " [" + value + "]";
    return wrapped(description_of(notes_, *option, notes_.task) + note);
}

/// What the commands are for, on one screen.
std::string HelpFormatter::make_overview(const CLI::App& program) const {
    std::string text = first_sentence(program.get_description()) + "\nUsage: " + program.get_name() +
                       " COMMAND [OPTIONS], or COMMAND --help\n";
    std::vector<std::string> rare;
    std::string group;
    for (const CLI::App* command : program.get_subcommands({})) {
        const std::string &name = command->get_name(), &own = command->get_group();
        if (own == rare_group) rare.push_back(name);
        if (own == rare_group) continue;
        if (own != group) text += "\n" + own + ":\n";
        group = own;
        text += "  " + name + std::string(overview_column - name.size(), ' ') +
                first_sentence(command->get_description()) + "\n";
    }
    return text + "\n" + task_group + ": " + aliases_of(program) + "\n" + rare_group + ": " +
           CLI::detail::join(rare, ", ") + "\n\n" +
           "Every command also takes -t,--threads N, -f,--force (replace outputs), -q,--quiet,\n"
           "-v,--verbose and --options FILE (YAML or JSON; the command line takes precedence).\n" +
           exit_codes_text(overview_width) + "\n";
}

}  // namespace bigbird::cli
