// SPDX-License-Identifier: Apache-2.0
#include "commands/finetune_promoter.hpp"

namespace bigbird::cli {

void setup_finetune_promoter(Program& program, Runner<FinetunePromoterOptions> run) {
    auto options = std::make_shared<FinetunePromoterOptions>();
    options->finetune.epochs = 3;  // the paper's 711 steps of 256 windows
    CLI::App& command = program.add<FinetunePromoterOptions>(
        "finetune-promoter", "Promoters",
        "Fine-tune a pretrained model, or train a baseline, to tell promoters from other sequence.\n"
        "The paper trained 711 steps of 256 windows (3 epochs) on TPUs; the default batch of 32 fits a CPU.",
        options, std::move(run));
    add_finetune_options(command, options->finetune,
                         "the baselines cnnprom, deepromoter, gkm-svm, kmer-ridge");
}

}  // namespace bigbird::cli
