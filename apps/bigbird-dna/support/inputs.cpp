// SPDX-License-Identifier: Apache-2.0
#include "support/inputs.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/protected_files.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>

namespace bigbird::cli {

namespace fs = std::filesystem;

namespace {

/// Value types of options that name inputs. "auto|never|PATH" is not among them: it names a run that
/// continues in its own --output.
constexpr std::array input_types{"BED",       "DIR",         "DIR|FILE",
                                 "FASTA",     "FILE",        "FILE|-",
                                 "JSON",      "MODEL",       "MODEL|bases|kmers:K",
                                 "NAME|FILE", "PRESET|FILE", "SHEET|BED",
                                 "TSV",       "VCF",         "[NAME=]FILE"};

/// Options that name outputs.
constexpr std::array outputs{"--output",       "--manifest",     "--report",
                             "--token-scores", "--hugging-face", "--model-card"};

bool names_input(const CLI::Option* option) {
    return std::ranges::find(outputs, option->get_name()) == outputs.end() &&
           std::ranges::find(input_types, option->get_type_name()) != input_types.end();
}

/// The path of "NAME=FILE", without the name.
fs::path path_in(const std::string& word) {
    std::error_code error;
    const std::size_t sign = word.find('=');
    return sign == std::string::npos || fs::exists(word, error) ? word : word.substr(sign + 1);
}

/// Also protects the indices of a FASTA file, and the description and tables of a part of --shard.
void protect_with_companions(const fs::path& path, const std::string& named_by) {
    protect_input(path, named_by);
    for (const char* ending : {".fai", ".gzi", ".part.json"})
        protect_input(path.string() + ending, named_by);
    if (path.extension() == ".npy")
        for (const char* ending : {".rows.tsv", ".labels.tsv"})
            protect_input(fs::path(path).replace_extension(ending), named_by);
}

}  // namespace

void require_values(const CLI::App& command) {
    for (const CLI::Option* option :
         command.get_options([](const CLI::Option* each) { return !each->empty(); })) {
        for (const std::string& value : option->results())
            if (value.empty()) throw ConfigError(option->get_name() + ": is given without a value");
    }
}

void require_outputs_apart(const CLI::App& command) {
    for (const CLI::Option* option : command.get_options(names_input))
        for (const std::string& word : option->results())
            protect_with_companions(path_in(word), option->get_name());
    // CLI11's look-up of a name is noexcept and allocates, so it is not used here.
    const auto named =
        command.get_options([](const CLI::Option* each) { return each->get_name() == "--output"; });
    if (named.empty()) return;
    for (const CLI::Option* option : command.get_options(names_input)) {
        for (const std::string& out : named.front()->results()) {
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
