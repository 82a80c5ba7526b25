// SPDX-License-Identifier: Apache-2.0
#include "bigbird/train/metrics_log.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/files.hpp"

#include <cerrno>
#include <cstring>
#include <string>

namespace bigbird::train {

namespace {

bool belongs(const std::string& line, std::int64_t last_step) {
    const Json value = Json::parse(line, nullptr, false);
    if (!value.is_object() || !value.contains("step") || !value["step"].is_number_integer()) {
        return false;
    }
    return value["step"].get<std::int64_t>() <= last_step;
}

}  // namespace

MetricsLog::MetricsLog(const std::filesystem::path& file, std::int64_t last_step) : file_(file) {
    write_atomically(file_, Overwrite::allow, [&](std::ostream& out) {
        std::ifstream before(file_, std::ios::binary);
        std::string line;
        while (last_step > 0 && std::getline(before, line)) {
            if (belongs(line, last_step)) {
                out << line << '\n';
            }
        }
    });
    out_.open(file_, std::ios::binary | std::ios::app);
    if (!out_) {
        throw WriteError(file_.string() + ": cannot be opened: " + std::strerror(errno));
    }
}

void MetricsLog::append(const Json& line) {
    out_ << line.dump() << '\n' << std::flush;
    if (!out_) {
        throw WriteError(file_.string() + ": writing failed: " + std::strerror(errno));
    }
}

}  // namespace bigbird::train
