// SPDX-License-Identifier: Apache-2.0
#include "bigbird/training/event_file.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/log.hpp"

#include <array>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cstring>

namespace bigbird::training {

namespace {

// tensorflow/core/util/event.proto and framework/summary.proto: the numbers of the fields used here.
namespace event_field {
constexpr unsigned wall_time = 1, step = 2, file_version = 3, summary = 5, session_log = 7;
}
namespace summary_field {
constexpr unsigned value = 1, tag = 1, simple_value = 2;
}
namespace session_field {
constexpr unsigned status = 1;
constexpr std::uint64_t start = 1;
}  // namespace session_field
enum class Wire : unsigned { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

constexpr std::array<std::uint32_t, 256> make_crc_table() {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < table.size(); ++i) {
        std::uint32_t value = i;
        for (int bit = 0; bit < 8; ++bit) {
            value = (value >> 1) ^ ((value & 1U) != 0 ? 0x82F63B78U : 0U);
        }
        table[i] = value;
    }
    return table;
}

constexpr std::array<std::uint32_t, 256> crc_table = make_crc_table();

/// TFRecord stores checksums so, lest a checksum of checksums be weak.
std::uint32_t masked_crc(const std::string& bytes) {
    return std::rotr(crc32c(bytes), 15) + 0xA282EAD8U;
}

template <typename Unsigned>
void append_fixed(std::string& out, Unsigned value) {
    for (std::size_t i = 0; i < sizeof(value); ++i) {
        out.push_back(static_cast<char>(static_cast<unsigned char>(value >> (8 * i))));
    }
}

void append_varint(std::string& out, std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) {
        out.push_back(static_cast<char>(static_cast<unsigned char>(value | 0x80U)));
    }
    out.push_back(static_cast<char>(value));
}

void append_key(std::string& out, unsigned field, Wire wire) {
    append_varint(out, (field << 3U) | static_cast<unsigned>(wire));
}

void append_bytes(std::string& out, unsigned field, const std::string& bytes) {
    append_key(out, field, Wire::bytes);
    append_varint(out, bytes.size());
    out += bytes;
}

std::string event_at(double wall_time, std::int64_t step) {
    std::string event;
    append_key(event, event_field::wall_time, Wire::fixed64);
    append_fixed(event, std::bit_cast<std::uint64_t>(wall_time));
    append_key(event, event_field::step, Wire::varint);
    append_varint(event, static_cast<std::uint64_t>(step));
    return event;
}

double now() {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

std::uint32_t crc32c(const std::string& bytes) {
    std::uint32_t crc = ~0U;
    for (const char byte : bytes) {
        crc = (crc >> 8) ^ crc_table[(crc ^ static_cast<unsigned char>(byte)) & 0xFFU];
    }
    return ~crc;
}

EventFile::EventFile(const std::filesystem::path& directory, std::int64_t first_step)
    : file_(directory / fmt::format("events.out.tfevents.{:010}", first_step)) {
    std::error_code error;
    std::filesystem::create_directories(directory, error);
    out_.open(file_, std::ios::binary | std::ios::trunc);
    std::string version = event_at(now(), 0);
    append_bytes(version, event_field::file_version, "brain.Event:2");
    write_record(version);
    std::string session = event_at(now(), first_step), log;
    append_key(log, session_field::status, Wire::varint);
    append_varint(log, session_field::start);
    append_bytes(session, event_field::session_log, log);
    write_record(session);
    out_.flush();
}

void EventFile::add(std::int64_t step, double wall_time,
                    const std::vector<std::pair<std::string, double>>& scalars) {
    std::string summary;
    for (const auto& [tag, number] : scalars) {
        std::string value;
        append_bytes(value, summary_field::tag, tag);
        append_key(value, summary_field::simple_value, Wire::fixed32);
        append_fixed(value, std::bit_cast<std::uint32_t>(static_cast<float>(number)));
        append_bytes(summary, summary_field::value, value);
    }
    std::string event = event_at(wall_time, step);
    append_bytes(event, event_field::summary, summary);
    write_record(event);
    out_.flush();
}

void EventFile::write_record(const std::string& event) {
    std::string length;
    append_fixed(length, static_cast<std::uint64_t>(event.size()));
    std::string record = length;
    append_fixed(record, masked_crc(length));
    record += event;
    append_fixed(record, masked_crc(event));
    out_.write(record.data(), static_cast<std::streamsize>(record.size()));
    if (!out_) {
        throw WriteError(file_.string() + ": writing failed: " + std::strerror(errno));
    }
}

}  // namespace bigbird::training
