// SPDX-License-Identifier: Apache-2.0
#include "bigbird/training/metrics/metrics_log.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/files.hpp"
#include "bigbird/core/formats/mapped_file.hpp"
#include "bigbird/core/formats/protobuf_wire.hpp"
#include "bigbird/core/log.hpp"

#include <array>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <sstream>

namespace bigbird::training {

namespace {

// tensorflow/core/util/event.proto and framework/summary.proto: the numbers of the fields used here.
constexpr unsigned wall_time_field = 1, step_field = 2, version_field = 3, summary_field = 5,
                   session_log_field = 7;
constexpr unsigned value_field = 1, tag_field = 1, simple_value_field = 2;  // of a summary
constexpr unsigned status_field = 1, session_start = 1;                     // of a session

constexpr std::array<std::uint32_t, 256> make_crc_table() {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < table.size(); ++i) {
        std::uint32_t value = i;
        for (int bit = 0; bit < 8; ++bit)
            value = (value >> 1) ^ ((value & 1U) != 0 ? 0x82F63B78U : 0U);
        table[i] = value;
    }
    return table;
}

constexpr std::array<std::uint32_t, 256> crc_table = make_crc_table();

/// TFRecord masks checksums this way, because a checksum of checksums would be weak.
std::uint32_t masked_crc(const std::string& bytes) {
    return std::rotr(crc32c(bytes), 15) + 0xA282EAD8U;
}

template <typename Unsigned>
void append_fixed(std::string& out, Unsigned value) {
    for (std::size_t i = 0; i < sizeof(value); ++i)
        out.push_back(static_cast<char>(static_cast<unsigned char>(value >> (8 * i))));
}

WireWriter event_at(double wall_time, std::int64_t step) {
    WireWriter event;
    event.float64(wall_time_field, wall_time);
    event.number(step_field, static_cast<std::uint64_t>(step));
    return event;
}

double now() {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

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

std::uint32_t crc32c(const std::string& bytes) {
    std::uint32_t crc = ~0U;
    for (const char byte : bytes)
        crc = (crc >> 8) ^ crc_table[(crc ^ static_cast<unsigned char>(byte)) & 0xFFU];
    return ~crc;
}

EventFile::EventFile(const std::filesystem::path& directory, std::int64_t first_step)
    : file_(directory / fmt::format("events.out.tfevents.{:010}", first_step)) {
    std::error_code error;
    std::filesystem::create_directories(directory, error);
    std::filesystem::remove(file_, error);  // so that a link is not followed
    out_.open(file_, std::ios::binary | std::ios::trunc);
    WireWriter version = event_at(now(), 0);
    version.bytes(version_field, "brain.Event:2");
    write_record(version.text());
    WireWriter session = event_at(now(), first_step), log;
    log.number(status_field, session_start);
    session.bytes(session_log_field, log.text());
    write_record(session.text());
    flush();
}

void EventFile::add(std::int64_t step, double wall_time,
                    const std::vector<std::pair<std::string, double>>& scalars) {
    WireWriter summary;
    for (const auto& [tag, number] : scalars) {
        WireWriter value;
        value.bytes(tag_field, tag);
        value.float32(simple_value_field, static_cast<float>(number));
        summary.bytes(value_field, value.text());
    }
    WireWriter event = event_at(wall_time, step);
    event.bytes(summary_field, summary.text());
    write_record(event.text());
    flush();
}

void EventFile::write_record(const std::string& event) {
    std::string length;
    append_fixed(length, static_cast<std::uint64_t>(event.size()));
    std::string record = length;
    append_fixed(record, masked_crc(length));
    record += event;
    append_fixed(record, masked_crc(event));
    out_.write(record.data(), static_cast<std::streamsize>(record.size()));
}

void EventFile::flush() {
    out_.flush();
    if (!out_) throw WriteError(file_.string() + ": writing failed: " + std::strerror(errno));
}

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
    events_.add(line.at("step").get<std::int64_t>(), now(), scalars);
}

}  // namespace bigbird::training
