// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/formats/sentencepiece_model.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/protobuf_wire.hpp"
#include "bigbird/core/rng.hpp"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

using namespace bigbird;
using namespace bigbird::testing;
using namespace bigbird::tokenizer;

DOCTEST_TEST_CASE("tokenizer/sentencepiece_model: SentencePiece's own file comes back byte for byte") {
    const std::string bytes = read_file(test_data("tokenizer/small.model"));
    const SentencePieceModel model = parse_sentencepiece_model(bytes, "small.model");
    DOCTEST_CHECK(model.pieces.size() == 512);
    DOCTEST_CHECK(model.pieces[0] == ModelPiece{"[PAD]", 0, PieceKind::control});
    DOCTEST_CHECK(model.pieces[1] == ModelPiece{"[UNK]", 0, PieceKind::unknown});
    DOCTEST_CHECK(model.pieces[511] == ModelPiece{"N", -506, PieceKind::normal});
    DOCTEST_CHECK(model.is_bpe);
    DOCTEST_CHECK(!model.adds_blank);
    DOCTEST_CHECK(!model.changes_letters);
    DOCTEST_CHECK(serialize(model) == bytes);
}

DOCTEST_TEST_CASE("tokenizer/sentencepiece_model: what is not a model") {
    for (const char* name : {"truncated.model", "text.model", "empty.model"}) {
        const std::string bytes = read_file(test_data(std::string("tokenizer/malformed/") + name));
        DOCTEST_CHECK(
            message_of<InputError>([&] { parse_sentencepiece_model(bytes, name); }) ==
            std::string(name) +
                ": is not a SentencePiece model, or a damaged one; make the tokenizer with train-tokenizer");
    }
}

namespace {

bool is_model(const std::string& bytes) {
    try {
        parse_sentencepiece_model(bytes, "some.model");
        return true;
    } catch (const InputError& error) {
        DOCTEST_CHECK(error.what() == std::string("some.model: is not a SentencePiece model, or a damaged "
                                                  "one; make the tokenizer with train-tokenizer"));
        return false;
    }
}

struct Fields {
    std::string piece, trainer, normalizer;
};

std::string piece_message(const std::string& text, std::uint64_t kind) {
    WireWriter piece;
    piece.bytes(1, text);
    piece.float32(2, -1.5F);
    if (kind != 1) {
        piece.number(3, kind);
    }
    return piece.text();
}

std::string model_message(const Fields& fields) {
    WireWriter model;
    model.bytes(1, fields.piece);
    model.bytes(2, fields.trainer);
    model.bytes(3, fields.normalizer);
    return model.text();
}

std::string number_message(std::uint32_t field, std::uint64_t value) {
    WireWriter message;
    message.number(field, value);
    return message.text();
}

}  // namespace

DOCTEST_TEST_CASE("tokenizer/sentencepiece_model: each setting that decides how a model encodes") {
    const auto read = [](const std::string& trainer, const std::string& normalizer) {
        return parse_sentencepiece_model(model_message({piece_message("A", 1), trainer, normalizer}), "m");
    };
    const SentencePieceModel plain = read("", "");
    DOCTEST_CHECK(plain.pieces == std::vector<ModelPiece>{{"A", -1.5F, PieceKind::normal}});
    DOCTEST_CHECK(!plain.is_bpe);  // the library's own defaults
    DOCTEST_CHECK(plain.adds_blank);
    DOCTEST_CHECK(!plain.changes_letters);
    DOCTEST_CHECK(read(number_message(3, 2), "").is_bpe);
    DOCTEST_CHECK(!read(number_message(3, 1), "").is_bpe);
    DOCTEST_CHECK(!read(number_message(4, 2), "").is_bpe);
    DOCTEST_CHECK(!read("", number_message(3, 0)).adds_blank);
    DOCTEST_CHECK(read("", number_message(3, 1)).adds_blank);
    WireWriter table;
    table.bytes(2, "x");
    DOCTEST_CHECK(read("", table.text()).changes_letters);
    WireWriter unknown;  // fields of later versions
    unknown.number(99, 1);
    unknown.bytes(100, "new");
    DOCTEST_CHECK(read(unknown.text(), unknown.text()).trainer_spec == unknown.text());
}

DOCTEST_TEST_CASE("tokenizer/sentencepiece_model: kinds of pieces, and no others") {
    for (std::uint64_t kind = 0; kind <= 8; ++kind) {
        const std::string bytes = model_message({piece_message("A", kind), "", ""});
        DOCTEST_CAPTURE(kind);
        DOCTEST_REQUIRE(is_model(bytes) == (kind >= 1 && kind <= 6));
        if (kind >= 1 && kind <= 6) {
            const SentencePieceModel model = parse_sentencepiece_model(bytes, "m");
            DOCTEST_CHECK(static_cast<std::uint64_t>(model.pieces[0].kind) == kind);
            DOCTEST_CHECK(serialize(model) == bytes);
        }
    }
}

DOCTEST_TEST_CASE("tokenizer/sentencepiece_model: damage in every part is noticed") {
    const std::string good = piece_message("A", 1);
    DOCTEST_CHECK(is_model(model_message({good, "", ""})));
    DOCTEST_CHECK_FALSE(is_model(""));
    DOCTEST_CHECK_FALSE(is_model(model_message({"", "", ""})));                    // a piece without text
    DOCTEST_CHECK_FALSE(is_model(model_message({piece_message("", 1), "", ""})));  // of no letters
    DOCTEST_CHECK_FALSE(is_model(model_message({good + "\x0A", "", ""})));
    DOCTEST_CHECK_FALSE(is_model(model_message({good, "\x18", ""})));
    DOCTEST_CHECK_FALSE(is_model(model_message({good, "", "\x12\x05x"})));
    DOCTEST_CHECK_FALSE(is_model(model_message({good, "", ""}) + number_message(1, 1)));
    DOCTEST_CHECK_FALSE(is_model(model_message({good, "", ""}) + number_message(9, 1)));
    WireWriter no_pieces;
    no_pieces.bytes(2, number_message(3, 2));
    DOCTEST_CHECK_FALSE(is_model(no_pieces.text()));
}

DOCTEST_TEST_CASE("tokenizer/sentencepiece_model: a file cut anywhere but between pieces is damaged") {
    const std::string bytes = read_file(test_data("tokenizer/small.model"));
    std::vector<bool> between(bytes.size() + 1);
    std::size_t end = 0;
    for (WireReader reader(bytes); const auto field = reader.next();) {
        end = static_cast<std::size_t>(field->bytes.data() + field->bytes.size() - bytes.data());
        between[end] = true;
    }
    DOCTEST_REQUIRE(end == bytes.size());
    int wrong = 0;
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        wrong += is_model(bytes.substr(0, size)) != between[size];
    }
    DOCTEST_CHECK(wrong == 0);
}

DOCTEST_TEST_CASE("tokenizer/sentencepiece_model: whatever bytes are changed, it is refused or read whole") {
    const std::string good = read_file(test_data("tokenizer/small.model"));
    Rng rng(31);
    int read = 0;
    for (int round = 0; round < 400; ++round) {
        std::string bytes = good;
        for (std::int64_t change = rng.between(1, 3); change > 0; --change) {
            const auto at =
                static_cast<std::size_t>(rng.between(0, static_cast<std::int64_t>(bytes.size()) - 1));
            bytes[at] = static_cast<char>(rng.between(0, 255));
        }
        if (is_model(bytes)) {
            ++read;
            const std::string written = serialize(parse_sentencepiece_model(bytes, "m"));
            DOCTEST_CHECK(serialize(parse_sentencepiece_model(written, "m")) == written);
        }
    }
    DOCTEST_CHECK(read > 40);
    DOCTEST_CHECK(read < 400);
}

DOCTEST_TEST_CASE("tokenizer/sentencepiece_model: a score that is no number is damage") {
    SentencePieceModel model =
        parse_sentencepiece_model(read_file(test_data("tokenizer/small.model")), "small.model");
    model.pieces[9].score = std::numeric_limits<float>::quiet_NaN();
    DOCTEST_CHECK_FALSE(is_model(serialize(model)));
    model.pieces[9].score = -std::numeric_limits<float>::infinity();
    DOCTEST_CHECK(is_model(serialize(model)));
}
