// SPDX-License-Identifier: Apache-2.0
#include "support/retired_options.hpp"

#include "support/help_notes.hpp"

#include "bigbird/core/log.hpp"

#include <algorithm>
#include <string_view>

namespace bigbird::cli {

namespace {

constexpr RetiredOption retired[] = {
    {"pretrain", "mask-spans", "single tokens are masked"},
    {"pretrain", "mask-share", "80 % of the chosen tokens become [MASK], as in the paper"},
    {"pretrain", "random-share", "10 % of the chosen tokens become another one, as in the paper"},
    {"evaluate-mlm", "baseline-ngrams", "n-grams of 1, 2 and 3 tokens are scored"},
    {"evaluate-mlm", "baseline-two-sided", "1 to 6 bases on either side are scored"},
    {"train-tokenizer", "max-piece-length", "the longest piece has 16 bases"},
    {"train-tokenizer", "max-sentences", "--max-memory bounds the sample"},
    {"finetune-chromatin", "margin-bins", "an eighth of --window-bins is context at each end"},
    {"finetune-chromatin", "average-weights", "the saved model is averaged with a decay of 0.99"},
    {"evaluate-*", "block-size", "blocks of 100,000 bases are resampled"},
    {"evaluate-promoter", "distance", "a call within 500 bases of a TSS is right"}};

const RetiredOption* find_retired(const CLI::App& command, const CLI::Option& option) {
    const std::string& name = command.get_name();
    const auto found = std::ranges::find_if(retired, [&](const RetiredOption& each) {
        const std::string_view own = each.command;
        const bool is_its =
            own.ends_with('*') ? name.starts_with(own.substr(0, own.size() - 1)) : name == own;
        return is_its && option.check_lname(std::string(each.option));
    });
    return found == std::end(retired) ? nullptr : found;
}

}  // namespace

std::span<const RetiredOption> retired_options() {
    return retired;
}

void hide_retired_options(CLI::App& command) {
    for (CLI::Option* option : command.get_options([](const CLI::Option*) { return true; }))
        if (find_retired(command, *option) != nullptr) option->group(hidden_group);
}

void warn_of_retired_options(const CLI::App& command) {
    for (const CLI::Option* option :
         command.get_options([](const CLI::Option* each) { return each->count() > 0; }))
        if (const RetiredOption* const goes = find_retired(command, *option))
            log_warning("--{} will be removed in the next version: {}", goes->option, goes->instead);
}

}  // namespace bigbird::cli
