// SPDX-License-Identifier: Apache-2.0
#include "support/retired_options.hpp"

#include "bigbird/core/log.hpp"

#include <algorithm>
#include <string_view>

namespace bigbird::cli {

namespace {

struct Retired {
    std::string_view command;  ///< or "" for all; "evaluate-" for those that begin with it
    std::string_view option;   ///< without its dashes
    std::string_view instead;
};

constexpr Retired retired_options[] = {
    {"", "verbose", "info --program says why no GPU is used"},
    {"pretrain", "mask-spans", "single tokens are masked"},
    {"pretrain", "mask-share", "80 % of the chosen tokens become [MASK], as in the paper"},
    {"pretrain", "random-share", "10 % of the chosen tokens become another one, as in the paper"},
    {"evaluate-mlm", "baseline-ngrams", "n-grams of 1, 2 and 3 tokens are scored"},
    {"evaluate-mlm", "baseline-two-sided", "1 to 6 bases on either side are scored"},
    {"train-tokenizer", "max-piece-length", "the longest piece has 16 bases"},
    {"train-tokenizer", "max-sentences", "--max-memory bounds the sample"},
    {"finetune-chromatin", "margin-bins", "an eighth of --window-bins is context at each end"},
    {"finetune-chromatin", "average-weights", "the saved model is averaged with a decay of 0.99"},
    {"evaluate-", "block-size", "blocks of 100,000 bases are resampled"},
    {"evaluate-promoter", "distance", "a call within 500 bases of a TSS is right"}};

const Retired* retired(const CLI::App& command, const CLI::Option& option) {
    const auto found = std::ranges::find_if(retired_options, [&](const Retired& each) {
        const bool is_its = each.command.ends_with('-')
                                ? command.get_name().starts_with(each.command)
                                : each.command.empty() || command.get_name() == each.command;
        return is_its && option.check_lname(std::string(each.option));
    });
    return found == std::end(retired_options) ? nullptr : found;
}

}  // namespace

void hide_retired_options(CLI::App& command) {
    for (CLI::Option* option : command.get_options([](const CLI::Option*) { return true; }))
        if (retired(command, *option) != nullptr) option->group("");
}

void warn_of_retired_options(const CLI::App& command) {
    for (const CLI::Option* option :
         command.get_options([](const CLI::Option* each) { return each->count() > 0; }))
        if (const Retired* const goes = retired(command, *option))
            log_warning("--{} goes with the next version: {}", goes->option, goes->instead);
}

}  // namespace bigbird::cli
