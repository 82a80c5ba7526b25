// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "options/input_options.hpp"
#include "options/option_groups.hpp"
#include "support/program.hpp"

#include "bigbird/corpus/tokens/shard_writer.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace bigbird::cli {

struct TokenizeOptions {
    std::filesystem::path documents;
    tokenizer::InputSpec input;
    std::vector<std::filesystem::path> references;
    OutputOptions output;
    std::int64_t shard_tokens = corpus::TokenShardWriter::default_shard_tokens;
    std::optional<Shard> shard;
    int threads = 0;
};

void setup_tokenize(Program& program, Runner<TokenizeOptions> run);
int run_tokenize(const TokenizeOptions& options);

}  // namespace bigbird::cli
