// SPDX-License-Identifier: Apache-2.0
#include "support/retired_options.hpp"

#include "support/help_formatter.hpp"

#include "bigbird/core/log.hpp"

#include <algorithm>
#include <string_view>

namespace bigbird::cli {

namespace {

constexpr RetiredOption retired[] = {
    {"embed", "attention", "the fastest implementation is taken"},
    {"finetune-*", "attention", "the fastest implementation is taken"},
    {"predict-*", "attention", "the fastest implementation is taken"},
    {"embed", "precision", "numbers are float32"},
    {"predict-*", "precision", "numbers are float32"},
    {"predict-variants", "strict", "the column status tells which rows have no scores"},
    {"predict-*", "batch-tokens", "as many tokens as fit the device are computed at once"},
    {"predict-*", "track-labels", "--labels selects the labels of all outputs"},
    {"predict-*", "longer", "the column status tells which sequences were cut to their middle"},
    {"predict-promoter", "scan", "--tile BP scores a window every BP bases"},
    {"predict-variants", "bins", "--scorer takes it, such as max:5"},
    {"predict-variants", "top",
     "the 10 labels with the largest effects are written; --labels selects others"},
    {"build-background", "bins", "--scorer takes it, such as max:5"},
    {"build-background", "attention", "the fastest implementation is taken"},
    {"build-background", "batch-tokens", "as many tokens as fit the device are computed at once"},
    {"build-background", "seed", "the seed is 0"},
    {"embed", "batch-tokens", "as many tokens as fit the device are computed at once"},
    {"attribute", "shuffles", "--baseline takes it, such as shuffled:20"},
    {"evaluate-chromatin", "published", "the figures are shown if the labels are DeepSEA's 919"},
    {"decode", "threads", "it does not matter"},
    {"train", "min-positives", "means leave out labels with fewer than 10 positive test bins"},
    {"train", "labels", "--label-column takes several names, separated by commas"},
    {"train", "targets", "--table takes it, with --fasta"},
    {"build-sequences", "labels", "--label-column takes several names, separated by commas"},
    {"build-sequences", "targets", "--table takes it, with --fasta"},
    {"train-tokenizer", "engine", "both have the same result"},
    {"build-documents", "format", "a name that ends in .bed or .bed.gz makes coordinates, any other text"},
    {"tokenize", "input", "--tokenizer takes it: bases or kmers:6"},
    {"tokenize", "kmer-length", "--tokenizer takes it, such as kmers:6"},
    {"pretrain", "input", "--tokenizer takes it: bases or kmers:6"},
    {"pretrain", "kmer-length", "--tokenizer takes it, such as kmers:6"},
    {"show-attention", "head", "the first head is drawn"},
    {"pretrain", "clip-norm", "the gradient has at most norm 1"},
    {"pretrain", "evaluate-sequences", "256 sequences are scored, the same ones every time"},
    {"pretrain", "keep", "the three newest checkpoints and the best are kept"},
    {"evaluate-mlm", "nsp", "it is scored if the model was pretrained with it"},
    {"finetune-*", "batch-tokens", "as many tokens as fit the device are computed at once"},
    {"finetune-*", "warmup-steps", "a tenth of the steps, at most 10,000, warm up"},
    {"finetune-*", "informative-positions", "--kmer-length takes it, such as 10:6"},
    {"finetune-chromatin", "window-bins", "--window takes the bases of all bins"},
    {"predict-mutagenesis", "dtype", "the number format follows from the model and the device"},
    {"predict-*", "json", "the text of --dry-run has the same numbers"},
    {"build-documents", "json", "the text of --dry-run has the same numbers"},
    {"pretrain", "corpus", "--documents takes the folder"},
    {"pretrain", "evaluate-corpus", "--evaluate-documents takes the folder"},
    {"pretrain", "yes", "--max-hours says how long a run may take"},
    {"pretrain", "passes", "build-documents has it, and --documents takes what that writes"},
    {"pretrain", "sentences", "build-documents has it, and --documents takes what that writes"},
    {"pretrain", "sentence-length", "build-documents has it, and --documents takes what that writes"},
    {"pretrain", "start-offset", "build-documents has it, and --documents takes what that writes"},
    {"pretrain", "reverse-complement", "build-documents has it, and --documents takes what that writes"},
    {"pretrain", "max-n-fraction", "build-documents has it, and --documents takes what that writes"},
    {"evaluate-mlm", "corpus", "--documents takes the folder"},
    {"evaluate-mlm", "baseline-corpus", "--baseline-documents takes the folder"},
    {"evaluate-mlm", "baseline-orders", "Markov chains of the orders 0 to 12 are scored"},
    {"evaluate-mlm", "corrupt", "every chosen token becomes [MASK]"},
    {"evaluate-mlm", "masking-rate", "15 % of the tokens are predicted"},
    {"evaluate-mlm", "batch-tokens", "8,192 tokens are computed at once"},
    {"evaluate-mlm", "dtype", "bf16 on a GPU, fp32 on a CPU"},
    {"tokenize", "shard-tokens", "a shard has 500 million tokens"},
    {"build-chromatin", "bins-of-group", "--bins takes the name of the group"},
    {"build-chromatin", "label-table", "labels are those of the header of --table, or DeepSEA's 919"},
    {"build-chromatin", "max-n-fraction", "at most half of a window is N"},
    {"build-promoters", "max-n-fraction", "at most half of a window is N"},
    {"build-tracks", "aggregate", "the sheet of --signal has the column aggregate"},
    {"build-tracks", "window", "linear models read nine bins"},
    {"finetune-*", "checkpoint-every", "a checkpoint is written every 1,000 steps"},
    {"finetune-*", "keep", "the three newest checkpoints and the best are kept"},
    {"finetune-*", "keep-every", "the three newest checkpoints and the best are kept"},
    {"finetune-*", "betas", "AdamW has its usual betas"},
    {"finetune-*", "epsilon", "AdamW has its usual epsilon"},
    {"finetune-*", "clip-norm", "the gradient has at most norm 1"},
    {"finetune-*", "sampling", "each window is drawn once per epoch; --positive-weight balances the loss"},
    {"finetune-*", "penalty", "it is chosen on the validation rows"},
    {"finetune-*", "cost", "the cost is 1"},
    {"finetune-*", "shift", "windows are shifted by at most 3 bases"},
    {"finetune-sequences", "average-weights", "the saved model is averaged with a decay of 0.99"},
    {"finetune-sequences", "kmers", "the networks are averaged with a regression on k-mers"},
    {"finetune-sequences", "label-smoothing", "2 % of the target are spread over the classes"},
    {"finetune-tokens", "margin", "an eighth of --window is context at each end"},
    {"finetune-tokens", "none-label", "the label of other bases is none"},
    {"evaluate-tokens", "none-label", "the label of other bases is none"},
    {"completion", "output", "redirect standard output"},
    {"completion", "force", "redirect standard output"}};

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
    for (CLI::Option* option : command.get_options())
        if (find_retired(command, *option) != nullptr) option->group(hidden_group);
}

void warn_of_retired_options(const CLI::App& command) {
    for (const CLI::Option* option :
         command.get_options([](const CLI::Option* each) { return each->count() > 0; }))
        if (const RetiredOption* const goes = find_retired(command, *option))
            log_warning("--{} will be removed in the next version: {}", goes->option, goes->instead);
}

}  // namespace bigbird::cli
