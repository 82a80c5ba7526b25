// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/formats/protobuf_wire.hpp"

#include <bit>
#include <cstring>

namespace bigbird {

void WireWriter::varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7)
        text_ += static_cast<char>(value | 0x80);
    text_ += static_cast<char>(value);
}

void WireWriter::begin(std::uint32_t field, WireType type) {
    varint(std::uint64_t{field} << 3 | static_cast<std::uint32_t>(type));
}

void WireWriter::number(std::uint32_t field, std::uint64_t value) {
    begin(field, WireType::varint);
    varint(value);
}

void WireWriter::bytes(std::uint32_t field, std::string_view value) {
    begin(field, WireType::bytes);
    varint(value.size());
    text_ += value;
}

float WireField::float32() const {
    return std::bit_cast<float>(static_cast<std::uint32_t>(number));
}

std::optional<std::uint64_t> WireReader::varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
        const auto byte = static_cast<unsigned char>(rest_.front());
        rest_.remove_prefix(1);
        value |= std::uint64_t{byte & 0x7FU} << shift;
        if (byte < 0x80) return value;
    }
    return std::nullopt;
}

std::optional<std::uint64_t> WireReader::fixed(std::size_t width) {
    if (rest_.size() < width) return std::nullopt;
    std::uint64_t value = 0;
    std::memcpy(&value, rest_.data(), width);  // the lowest byte first, as the processor has them
    rest_.remove_prefix(width);
    return value;
}

std::optional<std::uint64_t> WireReader::number_of(WireType type) {
    if (type == WireType::varint || type == WireType::bytes) return varint();
    if (type == WireType::fixed64) return fixed(8);
    return type == WireType::fixed32 ? fixed(4) : std::nullopt;
}

std::optional<WireField> WireReader::next() {
    if (rest_.empty()) return std::nullopt;
    const std::uint64_t head = varint().value_or(0);
    WireField field{.field = static_cast<std::uint32_t>(head >> 3), .type = static_cast<WireType>(head & 7)};
    const bool is_field = head >> 3 != 0 && head >> 35 == 0;
    const std::optional<std::uint64_t> value = is_field ? number_of(field.type) : std::nullopt;
    const bool has_bytes = field.type == WireType::bytes;
    damaged_ = !value || (has_bytes && *value > rest_.size());
    if (damaged_) {
        rest_ = {};
        return std::nullopt;
    }
    if (has_bytes) {
        field.bytes = rest_.substr(0, *value);
        rest_.remove_prefix(*value);
    } else {
        field.number = *value;
    }
    return field;
}

}  // namespace bigbird
