// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/formats/protobuf_wire.hpp"

#include <bit>

namespace bigbird {

namespace {

std::uint64_t tag(std::uint32_t field, WireType type) {
    return std::uint64_t{field} << 3 | static_cast<std::uint32_t>(type);
}

}  // namespace

void WireWriter::varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7)
        text_ += static_cast<char>(value | 0x80);
    text_ += static_cast<char>(value);
}

void WireWriter::number(std::uint32_t field, std::uint64_t value) {
    varint(tag(field, WireType::varint));
    varint(value);
}

void WireWriter::fixed(std::uint64_t value, unsigned width) {
    for (unsigned i = 0; i < width; ++i)
        text_ += static_cast<char>(value >> (8 * i));
}

void WireWriter::float32(std::uint32_t field, float value) {
    varint(tag(field, WireType::fixed32));
    fixed(std::bit_cast<std::uint32_t>(value), 4);
}

void WireWriter::float64(std::uint32_t field, double value) {
    varint(tag(field, WireType::fixed64));
    fixed(std::bit_cast<std::uint64_t>(value), 8);
}

void WireWriter::bytes(std::uint32_t field, std::string_view value) {
    varint(tag(field, WireType::bytes));
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
    for (std::size_t i = 0; i < width; ++i)
        value |= std::uint64_t{static_cast<unsigned char>(rest_[i])} << (8 * i);
    rest_.remove_prefix(width);
    return value;
}

std::optional<WireField> WireReader::give_up() {
    damaged_ = true;
    rest_ = {};
    return std::nullopt;
}

std::optional<WireField> WireReader::next() {
    if (rest_.empty()) return std::nullopt;
    const std::optional<std::uint64_t> head = varint();
    if (!head || *head >> 35 != 0 || *head >> 3 == 0) return give_up();
    WireField field;
    field.field = static_cast<std::uint32_t>(*head >> 3);
    field.type = static_cast<WireType>(*head & 7);
    std::optional<std::uint64_t> value;
    switch (field.type) {
        case WireType::varint:
            value = varint();
            break;
        case WireType::fixed64:
            value = fixed(8);
            break;
        case WireType::fixed32:
            value = fixed(4);
            break;
        case WireType::bytes:
            value = varint();
            if (value && *value <= rest_.size()) {
                field.bytes = rest_.substr(0, *value);
                rest_.remove_prefix(*value);
                return field;
            }
            return give_up();
    }
    if (!value) return give_up();
    field.number = *value;
    return field;
}

}  // namespace bigbird
