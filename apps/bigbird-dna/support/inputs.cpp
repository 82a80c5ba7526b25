// SPDX-License-Identifier: Apache-2.0
#include "support/inputs.hpp"

#include "bigbird/core/error.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>

namespace bigbird::cli {

namespace fs = std::filesystem;

namespace {

/// Of options that name what is read. "auto|never|PATH" is a run that goes on in its own --output.
constexpr std::array input_types{"BED",  "DIR",   "FASTA",      "FILE",        "FILE|-",
                                 "JSON", "MODEL", "NAME|FILE",  "PRESET|FILE", "SHEET|BED",
                                 "TSV",  "VCF",   "[NAME=]FILE"};

bool names_input(const CLI::Option* option) {
    return option->get_name() != "--output" &&
           std::ranges::find(input_types, option->get_type_name()) != input_types.end();
}

/// Without the name of "NAME=FILE".
fs::path path_in(const std::string& word) {
    std::error_code error;
    const std::size_t sign = word.find('=');
    return sign == std::string::npos || fs::exists(word, error) ? word : word.substr(sign + 1);
}

}  // namespace

void require_outputs_apart(const CLI::App& command) {
    // Not by CLI11's look-up of a name, which may throw nothing and takes memory.
    const auto outputs =
        command.get_options([](const CLI::Option* each) { return each->get_name() == "--output"; });
    if (outputs.empty()) return;
    for (const CLI::Option* option : command.get_options(names_input)) {
        for (const std::string& out : outputs.front()->results()) {
            for (const std::string& in : option->results()) {
                std::error_code error;
                if (!fs::equivalent(out, path_in(in), error)) continue;
                throw ConfigError(out + ": is named by " + option->get_name() +
                                  " and by --output; give another --output");
            }
        }
    }
}

}  // namespace bigbird::cli
