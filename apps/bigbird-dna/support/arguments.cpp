// SPDX-License-Identifier: Apache-2.0
#include "support/arguments.hpp"

#include "support/help_formatter.hpp"
#include "support/tasks.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/protected_files.hpp"
#include "bigbird/rows/text_fields.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

namespace bigbird::cli {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t most_typing_errors = 2;

/// "; did you mean X?", where X is the name with the spelling nearest to `word`; empty if none is near.
std::string nearest(const std::vector<std::string>& known, const std::string& word) {
    const auto distance = [&](const std::string& each) { return rows::edit_distance(word, each); };
    const auto found = std::ranges::min_element(known, {}, distance);
    const bool is_near = found != known.end() && distance(*found) <= most_typing_errors;
    return is_near ? "; did you mean " + *found + "?" : std::string();
}

/// Other tools' names of options and commands, and ours.
constexpr std::pair<std::string_view, std::string_view> synonyms[] = {{"--genome", "--reference"},
                                                                      {"--fasta", "--reference"},
                                                                      {"--ref", "--reference"},
                                                                      {"--bed", "--regions"},
                                                                      {"--input", "--regions"},
                                                                      {"--intervals", "--regions"},
                                                                      {"--vcf", "--variants"},
                                                                      {"--out", "--output"},
                                                                      {"--cpus", "--threads"},
                                                                      {"--cores", "--threads"},
                                                                      {"--jobs", "--threads"},
                                                                      {"--checkpoint", "--model"},
                                                                      {"--gpu", "--device"},
                                                                      {"-I", "--variants"},
                                                                      {"-O", "--output"},
                                                                      {"-R", "--reference"},
                                                                      {"-A", "--annotation"},
                                                                      {"-D", "--distance"},
                                                                      {"-M", "--mask"}};

/// "; did you mean X?": a synonym, names that begin with `word-`, or the nearest spelling.
std::string suggestion(const std::vector<std::string>& known, const std::string& word) {
    for (const auto& [theirs, ours] : synonyms)
        if (theirs == word && std::ranges::find(known, ours) != known.end())
            return "; did you mean " + std::string(ours) + "?";
    std::string longer;
    for (const std::string& each : known)
        if (each.starts_with(word + "-")) longer += (longer.empty() ? "" : ", ") + each;
    constexpr std::size_t letter = 2;  // "-I": near to names that mean something else
    if (word.size() == letter) return {};
    return longer.empty() ? nearest(known, word) : "; did you mean one of " + longer + "?";
}

/// Those that a help shows: the command's, then the program's.
std::vector<std::string> options_of(const CLI::App& command) {
    std::vector<std::string> names;
    for (const CLI::Option* option :
         command.get_options([&](const CLI::Option* each) { return is_shown(command, *each); }))
        for (const std::string& name : option->get_lnames())
            names.push_back("--" + name);
    if (command.get_parent() == nullptr) return names;
    const std::vector<std::string> shared = options_of(*command.get_parent());
    names.insert(names.end(), shared.begin(), shared.end());
    return names;
}

/// Words in capitals of options' value types that name no file. Every other one does: "FASTA|TABLE".
constexpr std::array no_files = std::to_array<std::string_view>(
    {"A",     "B",     "B1",    "B2",        "BP",    "COMMAND", "EPSILON", "GROUP", "HIGH",
     "HOURS", "I",     "K",     "LIST",      "LOW",   "N",       "NAME",    "P",     "PRESET",
     "RATE",  "RATIO", "SCORE", "SELECTION", "SHARE", "SHARES",  "SIZE",    "SPLIT", "WEIGHT"});

/// Options that name outputs, and --resume, which names a run that continues in its own --output.
constexpr std::array outputs{"--output",       "--manifest",   "--report", "--token-scores",
                             "--hugging-face", "--model-card", "--resume"};

bool names_file(std::string_view type) {
    constexpr std::string_view capitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
                               letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    std::size_t at = type.find_first_of(capitals);
    while (at != std::string_view::npos) {
        const std::size_t end = std::min(type.find_first_not_of(letters, at), type.size());
        if (std::ranges::find(no_files, type.substr(at, end - at)) == no_files.end()) return true;
        at = type.find_first_of(capitals, end);
    }
    return false;
}

bool names_input(const CLI::Option* option) {
    return std::ranges::find(outputs, option->get_name()) == outputs.end() &&
           names_file(option->get_type_name());
}

/// The path of "NAME=FILE", without the name.
fs::path path_in(const std::string& word) {
    std::error_code error;
    const std::size_t sign = word.find('=');
    return sign == std::string::npos || fs::exists(word, error) ? word : word.substr(sign + 1);
}

/// Also protects the indices of a FASTA file, and the record of a part of --shard.
void protect_with_companions(const fs::path& path, const std::string& named_by, const fs::path& written) {
    protect_input(path, named_by, written);
    for (const char* ending : {".fai", ".gzi", ".part.json"})
        protect_input(path.string() + ending, named_by);
}

}  // namespace

std::optional<std::string> unknown_argument(const CLI::App& command) {
    if (const auto of_other = option_of_other_task(command, help_notes(command).task)) return of_other;
    const std::vector<std::string> left = command.remaining();
    const auto option = std::find_if(left.begin(), left.end(), [](const std::string& word) {
        return word.starts_with("-") && word != "-";
    });
    if (option == left.end())
        return left.empty() ? std::nullopt : std::optional("'" + left.front() + "' was not expected here");
    const std::string word = option->substr(0, option->find('='));
    return "there is no option " + word + suggestion(options_of(command), word);
}

std::string unknown_word(const CLI::App& program, const std::string& word) {
    if (word.starts_with('-')) return "there is no option " + word + nearest(options_of(program), word);
    return "there is no command '" + word + "'" + suggestion(command_names(program), word);
}

void require_values(const CLI::App& command) {
    for (const CLI::Option* option : command.get_options(
             [](const CLI::Option* each) { return !each->empty() && each->get_items_expected_min() > 0; })) {
        for (const std::string& value : option->results())
            if (value.empty()) throw ConfigError(option->get_name() + ": is given without a value");
    }
}

void require_outputs_apart(const CLI::App& command) {
    // CLI11's look-up of a name is noexcept and allocates, so it is not used here.
    std::vector<std::string> outputs_given;
    for (const CLI::Option* option :
         command.get_options([](const CLI::Option* each) { return each->get_name() == "--output"; }))
        outputs_given = option->results();
    // A folder in an input's, as a run beside its examples, or a background that is rewritten for its model.
    fs::path written(outputs_given.empty() ? std::string() : outputs_given.front());
    std::error_code error;
    const bool background = command.get_name() == "build-background" && written.filename() == "background.h5";
    if (fs::is_regular_file(written, error) && !background) written.clear();
    for (const CLI::Option* option : command.get_options(names_input)) {
        for (const std::string& in : option->results()) {
            protect_with_companions(path_in(in), option->get_name(), written);
            for (const std::string& out : outputs_given) {
                if (!fs::equivalent(out, path_in(in), error)) continue;
                throw ConfigError(out + ": is named by " + option->get_name() +
                                  " and by --output; give another --output");
            }
        }
    }
}

}  // namespace bigbird::cli
