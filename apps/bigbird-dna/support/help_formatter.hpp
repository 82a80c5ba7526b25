// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/help_notes.hpp"

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace bigbird::cli {

/// The default that the help shows for an option; empty if there is none.
std::string shown_default(const CLI::Option& option);

/// The kind of value of an option, followed by " ..." if it takes several; empty for a flag.
std::string shown_value(const CLI::Option& option);

/// Formats help in two columns: an option and its kind of value on the left, its wrapped description and
/// default on the right; examples follow at the end. Clear the validators' descriptions first, or CLI11 makes
/// them part of the kind.
class HelpFormatter : public CLI::Formatter {
public:
    explicit HelpFormatter(HelpNotes notes = {});
    const HelpNotes& notes() const { return notes_; }

    std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
    std::string make_group(std::string group, bool is_positional,
                           std::vector<const CLI::Option*> options) const override;
    std::string make_footer(const CLI::App* app) const override;
    std::string make_option_opts(const CLI::Option* option) const override;
    std::string make_option_desc(const CLI::Option* option) const override;
    std::string make_subcommand(const CLI::App* command) const override;

private:
    bool is_common(const CLI::Option& option) const;
    /// Returns the help with only the common options.
    std::string make_brief_help(const CLI::App& app, const std::string& name) const;
    std::string make_common_groups(const CLI::App& app) const;

    HelpNotes notes_;
};

}  // namespace bigbird::cli
