// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/formats/protobuf_wire.hpp"

#include "support/testing.hpp"

#include "bigbird/core/rng.hpp"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

using namespace bigbird;

namespace {

bool is_damaged(const std::string& message) {
    WireReader reader(message);
    while (reader.next()) {
    }
    return reader.damaged();
}

std::string number_of(std::uint64_t value) {
    WireWriter writer;
    writer.number(1, value);
    return writer.text();
}

}  // namespace

DOCTEST_TEST_CASE("protobuf_wire: fields come back") {
    WireWriter writer;
    writer.number(4, 32'000);
    writer.float32(2, -1.5F);
    writer.bytes(30, "[MASK]");
    writer.number(200, 0xFFFFFFFFFFFFFFFFULL);
    writer.float64(1, 0.1);
    DOCTEST_CHECK(writer.text().substr(0, 4) == "\x20\x80\xFA\x01");  // as protoc --encode writes it
    WireReader reader(writer.text());
    const auto number = reader.next(), real = reader.next(), bytes = reader.next(), large = reader.next();
    const auto wide = reader.next();
    DOCTEST_REQUIRE(wide.has_value());
    DOCTEST_CHECK(number->field == 4);
    DOCTEST_CHECK(number->number == 32'000);
    DOCTEST_CHECK(real->type == WireType::fixed32);
    DOCTEST_CHECK(real->float32() == -1.5F);
    DOCTEST_CHECK(bytes->field == 30);
    DOCTEST_CHECK(bytes->bytes == "[MASK]");
    DOCTEST_CHECK(large->field == 200);
    DOCTEST_CHECK(large->number == 0xFFFFFFFFFFFFFFFFULL);
    DOCTEST_CHECK(wide->type == WireType::fixed64);
    DOCTEST_CHECK(wide->number == 0x3FB999999999999AULL);  // 0.1, IEEE 754
    DOCTEST_CHECK(!reader.next());
    DOCTEST_CHECK(!reader.damaged());
}

DOCTEST_TEST_CASE("protobuf_wire: bytes as protoc --encode writes them") {
    WireWriter writer;
    writer.float32(2, 1.0F);
    writer.float64(1, -2.0);
    writer.bytes(3, std::string("\0N", 2));
    writer.bytes(3, "");
    const std::string expected(
        "\x15\x00\x00\x80\x3F"                  // field 2, 4 bytes
        "\x09\x00\x00\x00\x00\x00\x00\x00\xC0"  // field 1, 8 bytes
        "\x1A\x02\x00N"                         // field 3, 2 bytes
        "\x1A\x00",
        20);
    DOCTEST_CHECK(writer.text() == expected);
}

DOCTEST_TEST_CASE("protobuf_wire: a number takes a byte for every seven bits") {
    for (unsigned bits = 0; bits <= 64; ++bits) {
        const std::uint64_t largest =
            bits == 0 ? 0 : std::numeric_limits<std::uint64_t>::max() >> (64 - bits);
        const std::string message = number_of(largest);
        DOCTEST_CAPTURE(bits);
        DOCTEST_CHECK(message.size() == 1 + (bits < 8 ? 1 : (bits + 6) / 7));
        WireReader reader(message);
        DOCTEST_CHECK(reader.next().value().number == largest);
        const std::string above = number_of(largest + 1);  // 0 above 2^64 - 1
        WireReader next(above);
        DOCTEST_CHECK(next.next().value().number == largest + 1);
    }
}

DOCTEST_TEST_CASE("protobuf_wire: the highest field number, and no higher") {
    constexpr std::uint32_t highest = 0xFFFFFFFF;
    WireWriter writer;
    writer.number(highest, 7);
    WireReader reader(writer.text());
    DOCTEST_CHECK(reader.next().value().field == highest);
    DOCTEST_CHECK(is_damaged(std::string("\x80\x80\x80\x80\x80\x01\x00", 7)));  // tag 2^35
    DOCTEST_CHECK(is_damaged(std::string("\x07\x00", 2)));                      // field 0 of no type
}

DOCTEST_TEST_CASE("protobuf_wire: damage is noticed") {
    for (const std::string& message : {std::string("\x0A\x05"
                                                   "abc"),
                                       std::string("\x08"), std::string("\x15\x01\x02", 3),
                                       std::string("\x09\x01\x02\x03\x04\x05\x06\x07", 8),
                                       std::string("\x0B"), std::string(1, '\0'), std::string(12, '\xFF')})
        DOCTEST_CHECK(is_damaged(message));
    DOCTEST_CHECK(!is_damaged(""));
    DOCTEST_CHECK(!is_damaged(std::string("\x0A\x00", 2)));
    WireReader reader("\x0B\x08\x01");  // a damaged field ends the message, whatever follows
    DOCTEST_CHECK(!reader.next());
    DOCTEST_CHECK(!reader.next());
}

DOCTEST_TEST_CASE("protobuf_wire: a message cut anywhere but between fields is damaged") {
    Rng rng(6);
    for (int round = 0; round < 40; ++round) {
        WireWriter writer;
        std::vector<std::size_t> ends{0};
        while (ends.size() < 6) {
            const auto field = static_cast<std::uint32_t>(rng.between(1, 1 << rng.between(1, 29)));
            switch (rng.between(0, 3)) {
                case 0:
                    writer.number(field, rng.next() >> rng.between(0, 63));
                    break;
                case 1:
                    writer.float32(field, static_cast<float>(rng.normal()));
                    break;
                case 2:
                    writer.float64(field, rng.normal());
                    break;
                default:
                    writer.bytes(field, std::string(static_cast<std::size_t>(rng.between(0, 200)), 'x'));
            }
            ends.push_back(writer.text().size());
        }
        for (std::size_t size = 0, fields = 0; size <= writer.text().size(); ++size) {
            const bool between =
                ends[fields + (fields + 1 < ends.size() && ends[fields + 1] == size)] == size;
            fields += fields + 1 < ends.size() && ends[fields + 1] == size;
            WireReader reader(std::string_view(writer.text()).substr(0, size));
            std::size_t read = 0;
            while (reader.next())
                ++read;
            DOCTEST_CHECK(read == fields);
            DOCTEST_CHECK(reader.damaged() == !between);
        }
    }
}
