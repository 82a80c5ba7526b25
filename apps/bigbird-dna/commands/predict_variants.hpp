// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/program.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace bigbird::cli {

struct PredictVariantsOptions {
    std::vector<std::filesystem::path> models, references, outputs;
    std::filesystem::path variants, tss;
    std::string labels, write = "ref,alt,difference,log-odds", reverse_complement;
    std::optional<double> min_score;
    bool strict = false, force = false;
    std::int64_t window = 2000, batch_tokens = 0;
    std::string device = "auto", dtype = "auto", attention = "automatic";
    int threads = 0;
};

void setup_predict_variants(Program& program, Runner<PredictVariantsOptions> run);
/// Only in bigbird-dna-tensors.
int run_predict_variants(const PredictVariantsOptions& options);

}  // namespace bigbird::cli
