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
    std::filesystem::path corpus, documents, tokenizer, evaluate_corpus, evaluate_documents;
    std::vector<std::filesystem::path> references;
    std::vector<std::string> hold_out;
    DocumentOptions drawing;  ///< without corpus and documents
    std::string config = "base";
    RunOptions run;
    OptimizationOptions optimization{.batch_size = 0, .learning_rate = 0};  ///< 0: by config
    std::int64_t sequence_length = 0;                                       ///< 0: by config
    std::int64_t micro_batch_size = 0;
    double masking_rate = 0.15, mask_share = 0.8, random_share = 0.1, mask_spans = 0, dropout = 0.1;
    std::string nsp = "on", dtype = "auto", recompute = "off", attention = "automatic";
    int processes = 1;
    bool dry_run = false;
    std::int64_t evaluate_every = 500, evaluate_sequences = 256;
    std::string device = "auto";
    int threads = 0;
    std::uint64_t seed = 0;
};

void setup_pretrain(Program& program, Runner<PretrainOptions> run);
/// Only in bigbird-dna-tensors.
int run_pretrain(const PretrainOptions& options);

}  // namespace bigbird::cli
