// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/temp_dir.hpp"

#include "bigbird/core/formats/json_file.hpp"

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

namespace bigbird::testing {

/// The lines of a run's metrics.jsonl.
inline std::vector<Json> metrics_of(const std::filesystem::path& run) {
    std::istringstream in(read_file(run / "metrics.jsonl"));
    std::vector<Json> lines;
    for (std::string line; std::getline(in, line);)
        lines.push_back(Json::parse(line));
    return lines;
}

/// The same without what depends on the clock.
inline std::vector<Json> curve_of(const std::filesystem::path& run) {
    std::vector<Json> lines = metrics_of(run);
    for (Json& line : lines)
        for (const char* key : {"seconds", "tokens_per_second", "eval_seconds", "data_wait_share",
                                "flops_per_second", "mfu", "memory_bytes"})
            line.erase(key);
    return lines;
}

}  // namespace bigbird::testing
