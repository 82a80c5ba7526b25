// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/formats/wire_format.hpp"

#include "support/testing.hpp"

#include <string>

using namespace bigbird::tokenizer;

DOCTEST_TEST_CASE("tokenizer/wire_format: fields come back") {
    WireWriter writer;
    writer.number(4, 32'000);
    writer.real(2, -1.5F);
    writer.bytes(30, "[MASK]");
    writer.number(200, 0xFFFFFFFFFFFFFFFFULL);
    DOCTEST_CHECK(writer.text().substr(0, 4) == "\x20\x80\xFA\x01");  // as protoc --encode writes it
    WireReader reader(writer.text());
    const auto number = reader.next(), real = reader.next(), bytes = reader.next(), large = reader.next();
    DOCTEST_REQUIRE(large.has_value());
    DOCTEST_CHECK(number->field == 4);
    DOCTEST_CHECK(number->number == 32'000);
    DOCTEST_CHECK(real->type == WireType::fixed32);
    DOCTEST_CHECK(real->real() == -1.5F);
    DOCTEST_CHECK(bytes->field == 30);
    DOCTEST_CHECK(bytes->bytes == "[MASK]");
    DOCTEST_CHECK(large->number == 0xFFFFFFFFFFFFFFFFULL);
    DOCTEST_CHECK(!reader.next());
    DOCTEST_CHECK(!reader.damaged());
}

DOCTEST_TEST_CASE("tokenizer/wire_format: damage is noticed") {
    for (const std::string& message : {std::string("\x0A\x05"
                                                   "abc"),
                                       std::string("\x08"), std::string("\x15\x01\x02", 3),
                                       std::string("\x0B"), std::string(1, '\0'), std::string(12, '\xFF')}) {
        WireReader reader(message);
        while (reader.next()) {
        }
        DOCTEST_CHECK(reader.damaged());
    }
}
