// SPDX-License-Identifier: Apache-2.0
#include "commands/finetune_chromatin.hpp"

namespace bigbird::cli {

void setup_finetune_chromatin(Program& program, Runner<FinetuneChromatinOptions> run) {
    auto options = std::make_shared<FinetuneChromatinOptions>();
    options->finetune.epochs = 30;  // the paper's 500,000 steps of 256 windows on DeepSEA's 4.4 million
    options->finetune.positive_weight = "8";
    CLI::App& command = program.add<FinetuneChromatinOptions>(
        "finetune-chromatin", "Chromatin",
        "Fine-tune a pretrained model, or train a baseline, to predict the chromatin profile "
        "of bins, any number of labels at once.\n"
        "The paper trained 500,000 steps of 256 windows (29 epochs) on "
        "TPUs; the default batch of 32 fits a CPU.",
        options, std::move(run));
    add_finetune_options(command, options->finetune,
                         "bigbird-bins (all bins of a window at once, by convolutions over bases below "
                         "BigBird's attention), or the baselines deepsea, gkm-svm, kmer-ridge");
    add_bins_options(command, options->finetune);
}

}  // namespace bigbird::cli
