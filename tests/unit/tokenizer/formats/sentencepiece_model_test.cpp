// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/formats/sentencepiece_model.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

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
