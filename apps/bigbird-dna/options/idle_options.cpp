// SPDX-License-Identifier: Apache-2.0
#include "options/idle_options.hpp"

#include "bigbird/baselines/names/architecture_names.hpp"
#include "bigbird/core/error.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace bigbird::cli {

using task_models::FinetuneSpec;

namespace {

/// Options that only some models read.
struct Readers {
    std::vector<std::string> options;
    bool (*reads)(const FinetuneSpec&);
    const char* belong_to;
};

const std::vector<Readers>& all_readers() {
    static const std::vector<Readers> all{
        {{"--steps", "--epochs", "--batch-size", "--learning-rate", "--warmup-steps", "--schedule",
          "--weight-decay", "--clip-norm", "--betas", "--epsilon", "--evaluate-every", "--patience",
          "--sampling", "--strand-augmentation"},
         [](const FinetuneSpec& spec) { return !spec.is_linear(); },
         "models that are trained step by step"},
        {{"--positive-weight"},
         [](const FinetuneSpec& spec) {
             return spec.architecture != "kmer-ridge" && spec.architecture != "kmer-logistic";
         },
         "models that have a loss a label"},
        {{"--head"}, [](const FinetuneSpec& spec) { return spec.is_bigbird(); }, "--architecture bigbird"},
        {{"--dropout"},
         [](const FinetuneSpec& spec) { return spec.is_bigbird() || spec.is_bins() || spec.is_sequence(); },
         "bigbird, bigbird-bins and bigbird-sequence"},
        {{"--pooling", "--dtype", "--attention"},
         [](const FinetuneSpec& spec) { return spec.is_bigbird() || spec.is_bins(); },
         "bigbird and bigbird-bins"},
        {{"--kmer-length"},
         [](const FinetuneSpec& spec) { return spec.is_linear() || spec.is_sequence(); },
         "kmer-ridge, kmer-logistic, gkm-svm and bigbird-sequence"},
        {{"--informative-positions"},
         [](const FinetuneSpec& spec) { return spec.is_linear(); },
         "kmer-ridge and gkm-svm"},
        {{"--penalty"},
         [](const FinetuneSpec& spec) {
             return spec.is_sequence() || (spec.is_linear() && spec.architecture != "gkm-svm");
         },
         "kmer-ridge, kmer-logistic and bigbird-sequence"},
        {{"--members", "--kmers", "--label-smoothing"},
         [](const FinetuneSpec& spec) { return spec.is_sequence(); },
         "bigbird-sequence"},
        {{"--cost", "--most-windows"},
         [](const FinetuneSpec& spec) { return spec.architecture == "gkm-svm"; },
         "gkm-svm"},
        {{"--config", "--motifs"},
         [](const FinetuneSpec& spec) { return spec.architecture == "bigbird-bins" || spec.is_sequence(); },
         "bigbird-bins and bigbird-sequence"},
        {{"--config", "--motifs"},
         [](const FinetuneSpec& spec) {
             return spec.architecture != "bigbird-bins" || spec.pretrained.empty();
         },
         "models that begin without --model"},
        {{"--teacher", "--loss"},
         [](const FinetuneSpec& spec) { return spec.is_bins(); },
         "bin models (--architecture bigbird-bins, --head bins)"},
        {{"--window-bins", "--shift", "--average-weights"},
         [](const FinetuneSpec& spec) { return spec.is_bins() || spec.is_sequence(); },
         "bin models (--architecture bigbird-bins, --head bins)"},
        {{"--window"},
         [](const FinetuneSpec& spec) {
             return spec.task != examples::Task::sequences ||
                    (!spec.is_bigbird() && !spec.is_sequence() && !spec.is_linear());
         },
         "cnnprom, deepromoter and deepsea"}};
    return all;
}

std::string name_of_model(const FinetuneSpec& spec) {
    if (spec.is_bigbird() && spec.head == "bins") return "--head bins";
    return "--architecture " + spec.architecture;
}

}  // namespace

void refuse_idle_options(const CLI::App& command, const FinetuneSpec& spec) {
    // An unknown architecture, or one only for promoters, is refused by its own message.
    if (!spec.is_bigbird() && !spec.is_bins() && !spec.is_sequence() &&
        !baselines::is_baseline(spec.architecture))
        return;
    for (const CLI::Option* option :
         command.get_options([](const CLI::Option* each) { return each->count() > 0; })) {
        for (const Readers& readers : all_readers()) {
            if (readers.reads(spec) ||
                std::ranges::find(readers.options, option->get_name()) == readers.options.end())
                continue;
            throw ConfigError(option->get_name() + " has no effect with " + name_of_model(spec) +
                              ": it is for " + readers.belong_to);
        }
    }
}

}  // namespace bigbird::cli
