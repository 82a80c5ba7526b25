// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "options/option_groups.hpp"
#include "support/program.hpp"

#include "bigbird/tokenizer/train/train.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace bigbird::cli {

struct TrainTokenizerOptions {
    std::filesystem::path documents;
    std::vector<std::filesystem::path> references;
    tokenizer::TrainSpec spec;
    OutputOptions output;
    std::filesystem::path report, hugging_face;
    int threads = 0;
};

void setup_train_tokenizer(Program& program, Runner<TrainTokenizerOptions> run);
int run_train_tokenizer(const TrainTokenizerOptions& options);

}  // namespace bigbird::cli
