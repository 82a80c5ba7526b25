// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/core/formats/json_file.hpp"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace bigbird::training {

/// Writes scalars as TensorBoard reads them: RUN/tensorboard/events.out.tfevents.<first step>, TFRecords
/// (length, masked CRC-32C, bytes, masked CRC-32C) of tensorflow.Event messages. Each process of a run writes
/// its own file, which begins with a session start. TensorBoard then drops an earlier process's steps after
/// its last checkpoint.
class EventFile {
public:
    /// Makes the folder and the file; `first_step` is the first that will be written. Throws WriteError.
    EventFile(const std::filesystem::path& directory, std::int64_t first_step);
    /// `wall_time` in seconds since 1970. Flushed at once.
    void add(std::int64_t step, double wall_time, const std::vector<std::pair<std::string, double>>& scalars);

private:
    void write_record(const std::string& event);
    void flush();

    std::filesystem::path file_;
    std::ofstream out_;
};

/// CRC-32C (Castagnoli) of bytes.
std::uint32_t crc32c(const std::string& bytes);

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
