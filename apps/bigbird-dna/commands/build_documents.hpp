// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "options/document_options.hpp"
#include "options/option_groups.hpp"
#include "support/program.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace bigbird::cli {

struct BuildDocumentsOptions {
    std::vector<std::filesystem::path> references;
    corpus::DrawingSpec documents;
    std::string format = "text";
    OutputOptions output;
    std::filesystem::path manifest;
    std::optional<Shard> shard;
    bool dry_run = false, json = false;
    std::uint64_t seed = 0;
    int threads = 0;
};

void setup_build_documents(Program& program, Runner<BuildDocumentsOptions> run);
int run_build_documents(const BuildDocumentsOptions& options);

}  // namespace bigbird::cli
