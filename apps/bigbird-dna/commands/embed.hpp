// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/program.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace bigbird::cli {

struct EmbedOptions {
    std::filesystem::path model, regions, sequences;
    std::vector<std::filesystem::path> references, outputs;
    std::string pooling = "mean";
    std::int64_t layer = -1, window = 0, batch_tokens = 0;
    bool strand = false, skip_invalid = false, force = false;
    std::string device = "auto", dtype = "auto", attention = "automatic";
    int threads = 0;
};

void setup_embed(Program& program, Runner<EmbedOptions> run);
/// Only in bigbird-dna-tensors.
int run_embed(const EmbedOptions& options);

}  // namespace bigbird::cli
