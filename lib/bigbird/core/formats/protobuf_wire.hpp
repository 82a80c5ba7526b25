// SPDX-License-Identifier: Apache-2.0
// The parts of the protocol-buffer wire format that SentencePiece's .model files and TensorBoard's events
// use: numbers, floats and byte strings, each preceded by a field number.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bigbird {

enum class WireType : std::uint32_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

/// Appends fields in the order of the calls; messages are byte strings.
class WireWriter {
public:
    void number(std::uint32_t field, std::uint64_t value);
    void float32(std::uint32_t field, float value) { fixed(field, WireType::fixed32, value); }
    void float64(std::uint32_t field, double value) { fixed(field, WireType::fixed64, value); }
    void bytes(std::uint32_t field, std::string_view value);
    const std::string& text() const { return text_; }

private:
    void begin(std::uint32_t field, WireType type);
    void varint(std::uint64_t value);
    template <typename Number>
    void fixed(std::uint32_t field, WireType type, Number value) {
        begin(field, type);
        text_.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    std::string text_;
};

struct WireField {
    std::uint32_t field = 0;
    WireType type = WireType::varint;
    std::uint64_t number = 0;  ///< the value of varint, fixed64 and fixed32
    std::string_view bytes{};  ///< the value of bytes, inside the message read
    float float32() const;     ///< the value of fixed32
};

/// Reads one message's fields in order.
class WireReader {
public:
    explicit WireReader(std::string_view message) : rest_(message) {}
    /// The next field; nothing at the end or where the message is damaged (see damaged()).
    std::optional<WireField> next();
    bool damaged() const { return damaged_; }

private:
    std::optional<std::uint64_t> varint();
    std::optional<std::uint64_t> fixed(std::size_t width);
    std::optional<std::uint64_t> number_of(WireType type);

    std::string_view rest_;
    bool damaged_ = false;
};

}  // namespace bigbird
