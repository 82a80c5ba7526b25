// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/core/log.hpp"

#include <spdlog/sinks/ostream_sink.h>

#include <memory>
#include <sstream>
#include <string>

namespace bigbird::testing {

/// While it lives, messages from log_info up are kept instead of shown: "info: text", a line each. One at a
/// time.
class CapturedLog {
public:
    CapturedLog() : previous_(spdlog::default_logger()) {
        auto logger = std::make_shared<spdlog::logger>(
            "captured", std::make_shared<spdlog::sinks::ostream_sink_mt>(text_));
        logger->set_pattern("%l: %v");
        spdlog::set_default_logger(std::move(logger));
    }
    ~CapturedLog() { spdlog::set_default_logger(previous_); }
    CapturedLog(const CapturedLog&) = delete;
    CapturedLog& operator=(const CapturedLog&) = delete;

    std::string text() const { return text_.str(); }

private:
    std::ostringstream text_;
    std::shared_ptr<spdlog::logger> previous_;
};

}  // namespace bigbird::testing
