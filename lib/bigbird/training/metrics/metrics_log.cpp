// SPDX-License-Identifier: Apache-2.0
#include "bigbird/training/metrics/metrics_log.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/files.hpp"
#include "bigbird/core/formats/whole_file.hpp"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <sstream>
#include <string>

namespace bigbird::training {

namespace {

bool belongs(const std::string& line, std::int64_t last_step) {
    const Json value = Json::parse(line, nullptr, false);
    if (!value.is_object() || !value.contains("step") || !value["step"].is_number_integer()) return false;
    return value["step"].get<std::int64_t>() <= last_step;
}

/// Removes obsolete lines, and returns the file's path.
std::filesystem::path cut(const std::filesystem::path& file, std::int64_t last_step) {
    std::error_code error;
    const bool goes_on = last_step > 0 && std::filesystem::exists(file, error);
    std::istringstream before(goes_on ? read_whole_file(file) : std::string());
    write_atomically(file, Overwrite::allow, [&](std::ostream& out) {
        std::string line;
        while (std::getline(before, line))
            if (belongs(line, last_step)) out << line << '\n';
    });
    return file;
}

std::filesystem::path events_from(const std::filesystem::path& directory, std::int64_t last_step) {
    if (last_step == 0) {
        std::error_code error;
        std::filesystem::remove_all(directory, error);
    }
    return directory;
}

}  // namespace

MetricsLog::MetricsLog(const std::filesystem::path& run_directory, std::int64_t last_step)
    : file_(cut(run_directory / file_name, last_step)),
      out_(file_, std::ios::binary | std::ios::app),
      events_(events_from(run_directory / events_name, last_step), last_step + 1) {
    if (!out_) throw WriteError(file_.string() + ": cannot be opened: " + std::strerror(errno));
}

void MetricsLog::append(const Json& line) {
    out_ << line.dump() << '\n' << std::flush;
    if (!out_) throw WriteError(file_.string() + ": writing failed: " + std::strerror(errno));
    std::vector<std::pair<std::string, double>> scalars;
    for (const auto& item : line.items()) {
        if (item.key() != "step" && item.value().is_number()) {
            const bool evaluation = item.key().starts_with("eval_");
            scalars.emplace_back((evaluation ? "evaluation/" : "training/") + item.key(),
                                 item.value().get<double>());
        }
    }
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    events_.add(line.at("step").get<std::int64_t>(), std::chrono::duration<double>(now).count(), scalars);
}

}  // namespace bigbird::training
