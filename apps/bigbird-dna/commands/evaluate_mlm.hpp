// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "options/option_groups.hpp"
#include "support/program.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace bigbird::cli {

struct EvaluateMlmOptions {
    std::filesystem::path model, corpus, documents, baseline_corpus, baseline_documents;
    std::vector<std::filesystem::path> references;
    OutputOptions output;
    std::vector<int> baseline_orders{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, baseline_ngrams{1, 2, 3};
    std::int64_t sequence_length = 0, max_sequences = 0, batch_tokens = 8'192;
    double masking_rate = 0.15;
    std::string corrupt = "mask", nsp = "model", dtype = "auto", device = "auto";
    int threads = 0;
    std::uint64_t seed = 0;
};

void setup_evaluate_mlm(Program& program, Runner<EvaluateMlmOptions> run);
/// Only in bigbird-dna-tensors.
int run_evaluate_mlm(const EvaluateMlmOptions& options);

}  // namespace bigbird::cli
