// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "options/document_options.hpp"
#include "options/training_options.hpp"
#include "support/program.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace bigbird::cli {

struct PretrainOptions {
    std::filesystem::path documents, tokenizer, evaluate_documents;
    std::vector<std::filesystem::path> references;
    DocumentOptions drawing;  ///< without documents
    std::string config = "base";
    RunOptions run;
    OptimizationOptions optimization{.batch_size = 0, .learning_rate = 0};  ///< 0: by config
    std::int64_t sequence_length = 0;                                       ///< 0: by config
    std::int64_t micro_batch_size = 0;
    double masking_rate = 0.15, dropout = 0.1;
    std::string nsp = "on", dtype = "auto";
    std::int64_t evaluate_every = 500, evaluate_sequences = 256;
    std::string device = "auto";
    int threads = 0;
    std::uint64_t seed = 0;
};

void setup_pretrain(Program& program, Runner<PretrainOptions> run);
/// Only in bigbird-dna-tensors.
int run_pretrain(const PretrainOptions& options);

}  // namespace bigbird::cli
