// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/training/metrics/event_file.hpp"

#include <cstdint>
#include <filesystem>
#include <fstream>

namespace bigbird::training {

/// RUN/metrics.jsonl: one JSON object per line, each with "step"; the same numbers go to RUN/tensorboard/.
/// Every line is flushed, so that others can follow the file.
class MetricsLog {
public:
    /// Appends after the lines with a step of at most `last_step`. Later lines, and a line cut short by a
    /// crash, are removed first, so that a resumed curve equals an uninterrupted run's. 0 starts afresh.
    /// Throws WriteError.
    MetricsLog(const std::filesystem::path& run_directory, std::int64_t last_step);
    void append(const Json& line);

    static constexpr const char* file_name = "metrics.jsonl";
    static constexpr const char* events_name = "tensorboard";

private:
    std::filesystem::path file_;
    std::ofstream out_;
    EventFile events_;
};

}  // namespace bigbird::training
