// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/core/json_file.hpp"

#include <cstdint>
#include <filesystem>
#include <fstream>

namespace bigbird::train {

/// metrics.jsonl: one JSON object a line, each with "step". Lines are flushed as they are written, so that
/// others can follow the file.
class MetricsLog {
public:
    /// Goes on behind the lines whose step is at most `last_step`; later ones, and a line cut short by a
    /// crash, are removed first, so that a resumed curve is that of an uninterrupted run. 0 starts afresh.
    /// Throws WriteError.
    MetricsLog(const std::filesystem::path& file, std::int64_t last_step);
    void append(const Json& line);

private:
    std::filesystem::path file_;
    std::ofstream out_;
};

}  // namespace bigbird::train
