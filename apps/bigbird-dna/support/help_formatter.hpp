// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

#include <string>

namespace bigbird::cli {

/// Help that reads: the option and what kind of value it takes on the left, on the right what it means,
/// wrapped, with its default behind it. Clear the validators' descriptions first, or CLI11 makes them part of
/// the kind.
class HelpFormatter : public CLI::Formatter {
public:
    HelpFormatter();

    std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
    std::string make_option_opts(const CLI::Option* option) const override;
    std::string make_option_desc(const CLI::Option* option) const override;
    std::string make_subcommand(const CLI::App* command) const override;
};

}  // namespace bigbird::cli
