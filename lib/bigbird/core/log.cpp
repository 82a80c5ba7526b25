// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/log.hpp"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/ansicolor_sink.h>

#include <memory>

namespace bigbird {

namespace {

Verbosity current = Verbosity::normal;

// "" for information, "warning: " and "error: " else.
class LevelPrefix : public spdlog::custom_flag_formatter {
public:
    void format(const spdlog::details::log_msg& message, const std::tm&, spdlog::memory_buf_t& out) override {
        const std::string_view prefix = message.level == spdlog::level::warn  ? "warning: "
                                        : message.level == spdlog::level::err ? "error: "
                                                                              : "";
        out.append(prefix.data(), prefix.data() + prefix.size());
    }
    std::unique_ptr<spdlog::custom_flag_formatter> clone() const override {
        return std::make_unique<LevelPrefix>();
    }
};

// The message, with '?' for control characters: names and lines of untrusted files may contain terminal
// commands.
class Printable : public spdlog::custom_flag_formatter {
public:
    void format(const spdlog::details::log_msg& message, const std::tm&, spdlog::memory_buf_t& out) override {
        for (const char c : message.payload) {
            const auto byte = static_cast<unsigned char>(c);
            const bool is_control = (byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7f;
            out.push_back(is_control ? '?' : c);
        }
    }
    std::unique_ptr<spdlog::custom_flag_formatter> clone() const override {
        return std::make_unique<Printable>();
    }
};

spdlog::level::level_enum level_of(Verbosity verbosity) {
    switch (verbosity) {
        case Verbosity::quiet:
            return spdlog::level::warn;
        case Verbosity::normal:
            return spdlog::level::info;
        case Verbosity::verbose:
            return spdlog::level::debug;
    }
    return spdlog::level::info;
}

}  // namespace

void set_up_log(Verbosity verbosity, const std::string& prefix) {
    current = verbosity;
    auto sink = std::make_shared<spdlog::sinks::ansicolor_stderr_sink_mt>();
    auto logger = std::make_shared<spdlog::logger>("bigbird-dna", std::move(sink));
    auto formatter = std::make_unique<spdlog::pattern_formatter>();
    formatter->add_flag<LevelPrefix>('*').add_flag<Printable>('?').set_pattern("%n: " + prefix + "%^%*%$%?");
    logger->set_formatter(std::move(formatter));
    logger->set_level(level_of(verbosity));
    logger->flush_on(spdlog::level::debug);
    spdlog::set_default_logger(std::move(logger));
}

Verbosity log_verbosity() {
    return current;
}

}  // namespace bigbird
