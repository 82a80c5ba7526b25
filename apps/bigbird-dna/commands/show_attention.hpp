// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "options/option_groups.hpp"
#include "support/program.hpp"

#include <cstdint>
#include <filesystem>
#include <string>

namespace bigbird::cli {

struct ShowAttentionOptions {
    std::filesystem::path config;
    std::string pattern;
    OutputOptions output;
    std::int64_t length = 1024;
    int layer = 0, head = 0;
};

void setup_show_attention(Program& program, Runner<ShowAttentionOptions> run);
int run_show_attention(const ShowAttentionOptions& options);

}  // namespace bigbird::cli
