// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/log.hpp"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/ansicolor_sink.h>

#include <cstddef>
#include <memory>
#include <string_view>

namespace bigbird {

namespace {

Verbosity current = Verbosity::normal;

/// The message behind "warning: " or "error: ", in color on a terminal. '?' stands for control characters:
/// names and lines of untrusted files may contain terminal commands.
class MarkedMessage : public spdlog::custom_flag_formatter {
public:
    void format(const spdlog::details::log_msg& message, const std::tm&, spdlog::memory_buf_t& out) override {
        const std::string_view mark = message.level == spdlog::level::warn  ? "warning: "
                                      : message.level == spdlog::level::err ? "error: "
                                                                            : "";
        message.color_range_start = out.size();
        out.append(mark.data(), mark.data() + mark.size());
        message.color_range_end = out.size();
        for (const char c : message.payload) {
            const auto byte = static_cast<unsigned char>(c);
            const bool is_control = (byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7f;
            out.push_back(is_control ? '?' : c);
        }
    }
    std::unique_ptr<spdlog::custom_flag_formatter> clone() const override {
        return std::make_unique<MarkedMessage>();
    }
};

}  // namespace

void set_up_log(Verbosity verbosity, const std::string& prefix) {
    constexpr spdlog::level::level_enum levels[] = {spdlog::level::warn, spdlog::level::info,
                                                    spdlog::level::debug};
    current = verbosity;
    auto sink = std::make_shared<spdlog::sinks::ansicolor_stderr_sink_mt>();
    auto logger = std::make_shared<spdlog::logger>("bigbird-dna", std::move(sink));
    auto formatter = std::make_unique<spdlog::pattern_formatter>();
    formatter->add_flag<MarkedMessage>('*').set_pattern("%n: " + prefix + "%*");
    logger->set_formatter(std::move(formatter));
    logger->set_level(levels[static_cast<std::size_t>(verbosity)]);
    logger->flush_on(spdlog::level::debug);
    spdlog::set_default_logger(std::move(logger));
}

Verbosity log_verbosity() {
    return current;
}

}  // namespace bigbird
