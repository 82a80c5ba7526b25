// SPDX-License-Identifier: Apache-2.0
#include "bigbird/outputs/npz_array.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/npy_header.hpp"

#include <zlib.h>

#include <limits>
#include <string_view>

namespace bigbird::outputs {

namespace {

constexpr std::string_view member = "arr_0.npy";
constexpr std::int64_t npy_header_bytes = 128, most_bytes = std::numeric_limits<std::uint32_t>::max() - 1024;
constexpr std::uint16_t version = 20, first_day = 33;  // 1980-01-01: the same rows, the same bytes

/// Little-endian numbers one after another.
struct Record {
    std::string bytes;
    Record& two(std::uint32_t value) {
        bytes += static_cast<char>(value & 0xFFU);
        bytes += static_cast<char>(value >> 8U & 0xFFU);
        return *this;
    }
    Record& four(std::uint32_t value) { return two(value & 0xFFFFU).two(value >> 16U); }
};

/// What both headers of a zip's member have: from its version to the length of its name.
Record& describe(Record& record, std::uint32_t checksum, std::uint32_t size) {
    record.two(version).two(0).two(0).two(0).two(first_day);  // stored as it is
    return record.four(checksum).four(size).four(size).two(member.size()).two(0);
}

std::string front_of(std::uint32_t checksum, std::uint32_t size) {
    Record record;
    describe(record.four(0x04034b50), checksum, size);
    return record.bytes += member;
}

/// The directory of a zip with one member, which begins at 0.
std::string directory_of(std::uint32_t checksum, std::uint32_t size, std::uint32_t end) {
    Record record;
    describe(record.four(0x02014b50).two(version), checksum, size).two(0).two(0).two(0).four(0).four(0);
    record.bytes += member;
    const auto length = static_cast<std::uint32_t>(record.bytes.size());
    record.four(0x06054b50).two(0).two(0).two(1).two(1).four(length).four(end).two(0);
    return record.bytes;
}

}  // namespace

NpzArray::NpzArray(const std::filesystem::path& path, Overwrite overwrite, std::string type)
    : pending_(path, overwrite), out_(pending_.path(), std::ios::binary), type_(std::move(type)) {
    out_ << front_of(0, 0) << std::string(static_cast<std::size_t>(npy_header_bytes), ' ');
}

void NpzArray::require(bool fine, const char* why) const {
    if (!fine) throw WriteError(pending_.target().string() + ": " + why);
}

void NpzArray::add(std::span<const std::byte> row, std::span<const std::size_t> each) {
    each_.assign(each.begin(), each.end());
    ++rows_;
    bytes_ += std::ssize(row);
    require(bytes_ < most_bytes, "would be longer than 4 GB: write .h5, or fewer regions");
    checksum_ = static_cast<std::uint32_t>(
        crc32_z(checksum_, reinterpret_cast<const Bytef*>(row.data()), row.size()));
    out_.write(reinterpret_cast<const char*>(row.data()), std::ssize(row));
    require(static_cast<bool>(out_), "writing failed: is the disk full?");
}

PendingOutput* NpzArray::finish() {
    if (each_.empty()) each_ = {4, 0};
    const std::string header = npy_header(type_, rows_, each_);
    const auto of_header = crc32_z(0, reinterpret_cast<const Bytef*>(header.data()), header.size());
    const auto checksum = static_cast<std::uint32_t>(crc32_combine(of_header, checksum_, bytes_));
    const auto size = static_cast<std::uint32_t>(bytes_ + npy_header_bytes);
    const std::string front = front_of(checksum, size);
    out_ << directory_of(checksum, size, static_cast<std::uint32_t>(front.size()) + size);
    out_.seekp(0);
    out_ << front << header;
    out_.close();
    require(static_cast<bool>(out_), "writing failed: is the disk full?");
    return &pending_;
}

}  // namespace bigbird::outputs
