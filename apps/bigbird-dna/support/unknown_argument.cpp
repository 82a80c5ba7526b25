// SPDX-License-Identifier: Apache-2.0
#include "support/unknown_argument.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace bigbird::cli {

namespace {

constexpr std::size_t most_typing_errors = 2;

/// Letters to insert, remove or replace.
std::size_t edit_distance(const std::string& a, const std::string& b) {
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) {
        row[j] = j;
    }
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            diagonal = row[j];
            row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
        }
    }
    return row.back();
}

/// The option that is spelt most like `word`, if any is near.
std::string nearest_option(const CLI::App& command, const std::string& word) {
    std::string nearest;
    std::size_t least = most_typing_errors + 1;
    for (const CLI::Option* option : command.get_options()) {
        for (const std::string& name : option->get_lnames()) {
            const std::string spelt = "--" + name;
            const std::size_t distance = edit_distance(word, spelt);
            if (distance < least) {
                least = distance;
                nearest = spelt;
            }
        }
    }
    return nearest;
}

}  // namespace

std::optional<std::string> unknown_argument(const CLI::App& command) {
    const std::vector<std::string> left = command.remaining();
    const auto option = std::find_if(left.begin(), left.end(),
                                     [](const std::string& word) { return word.starts_with("--"); });
    if (option == left.end()) {
        return left.empty() ? std::nullopt : std::optional("'" + left.front() + "' was not expected here");
    }
    const std::string word = option->substr(0, option->find('='));
    const std::string nearest = nearest_option(command, word);
    return "there is no option " + word + (nearest.empty() ? "" : "; did you mean " + nearest + "?");
}

}  // namespace bigbird::cli
