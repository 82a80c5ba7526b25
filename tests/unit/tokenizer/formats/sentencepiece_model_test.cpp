// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/formats/sentencepiece_model.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"
#include "unit/tokenizer/bpe_oracle.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/protobuf_wire.hpp"
#include "bigbird/core/rng.hpp"

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
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
    DOCTEST_CHECK(serialize(model) == bytes);
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
    if (kind != 1) piece.number(3, kind);
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
    DOCTEST_CHECK(read(number_message(3, 2), "").is_bpe);
    DOCTEST_CHECK(!read(number_message(3, 1), "").is_bpe);
    DOCTEST_CHECK(!read(number_message(4, 2), "").is_bpe);
    DOCTEST_CHECK(!read("", number_message(3, 0)).adds_blank);
    DOCTEST_CHECK(read("", number_message(3, 1)).adds_blank);
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
    for (std::size_t size = 0; size < bytes.size(); ++size)
        wrong += is_model(bytes.substr(0, size)) != between[size];
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
    SentencePieceModel model = small_model();
    model.pieces[9].score = std::numeric_limits<float>::quiet_NaN();
    DOCTEST_CHECK_FALSE(is_model(serialize(model)));
    model.pieces[9].score = -std::numeric_limits<float>::infinity();
    DOCTEST_CHECK(is_model(serialize(model)));
}

namespace {

SentencePieceModel model_of_pieces(const std::vector<std::pair<std::string, float>>& pieces) {
    SentencePieceModel model;
    model.is_bpe = true;
    model.pieces = {{"[PAD]", 0, PieceKind::control}, {"[UNK]", 0, PieceKind::unknown}};
    for (const auto& [text, score] : pieces)
        model.pieces.push_back({text, score, PieceKind::normal});
    return model;
}

std::string spell(const BpeRules& rules, const std::string& text) {
    std::string spelt;
    for (const Token token : encode_by_definition(rules, letters_of(rules, text)))
        spelt += (spelt.empty() ? "" : " ") + rules.texts[token];
    return spelt;
}

}  // namespace

DOCTEST_TEST_CASE("tokenizer/sentencepiece_rules: the higher score merges first, whatever the ids") {
    const BpeRules rules =
        bpe_rules_of(model_of_pieces({{"CG", -3}, {"AC", -1}, {"A", -4}, {"C", -5}, {"G", -6}}), "m");
    DOCTEST_CHECK(spell(rules, "ACG") == "AC G");
    DOCTEST_CHECK(spell(rules, "CCG") == "C CG");
    DOCTEST_CHECK(rules.ids[*rules.find("AC")] == 3);
    DOCTEST_CHECK(rules.merge(*rules.find("A"), *rules.find("C")).rank == 0);
    DOCTEST_CHECK(rules.merge(*rules.find("C"), *rules.find("G")).rank == 1);
    const BpeRules other =
        bpe_rules_of(model_of_pieces({{"CG", -1}, {"AC", -3}, {"A", -4}, {"C", -5}, {"G", -6}}), "m");
    DOCTEST_CHECK(spell(other, "ACG") == "A CG");
}

DOCTEST_TEST_CASE("tokenizer/sentencepiece_rules: of equal scores the leftmost pair merges first") {
    const BpeRules rules =
        bpe_rules_of(model_of_pieces({{"CG", -1}, {"AC", -1}, {"A", -4}, {"C", -5}, {"G", -6}}), "m");
    DOCTEST_CHECK(rules.merge(*rules.find("A"), *rules.find("C")).rank ==
                  rules.merge(*rules.find("C"), *rules.find("G")).rank);
    DOCTEST_CHECK(spell(rules, "ACG") == "AC G");
    DOCTEST_CHECK(spell(rules, "CGACG") == "CG AC G");
}

DOCTEST_TEST_CASE("tokenizer/sentencepiece_rules: control pieces are no text, and no piece occurs twice") {
    const BpeRules rules = bpe_rules_of(model_of_pieces({{"A", -2}}), "m");
    DOCTEST_CHECK(!rules.find("[PAD]"));
    DOCTEST_CHECK(!rules.find("[UNK]"));
    DOCTEST_CHECK(rules.unknown_id == 1);
    DOCTEST_CHECK(rules.letters['G'] == no_token);
    SentencePieceModel model = model_of_pieces({{"A", -1}, {"A", -2}});
    const auto refusal = [&] { return message_of<InputError>([&] { bpe_rules_of(model, "x.model"); }); };
    DOCTEST_CHECK(refusal() == "x.model: piece 'A' occurs twice");
    model.is_bpe = false;
    DOCTEST_CHECK(refusal() == "x.model: is not a byte-pair encoding (SentencePiece model type bpe)");
}

DOCTEST_TEST_CASE("tokenizer/sentencepiece_rules: every split of a piece into two pieces is a merge") {
    const BpeRules rules = small_rules();
    DOCTEST_CHECK(rules.size() == 507);
    DOCTEST_CHECK(rules.unknown_id == 1);
    DOCTEST_CHECK(rules.letters['N'] == rules.find("N"));
    DOCTEST_CHECK(rules.letters['n'] == no_token);
    std::size_t merges = 0, wrong = 0;
    for (Token left = 0; left < rules.size(); ++left) {
        for (Token right = 0; right < rules.size(); ++right) {
            const auto merged = rules.find(rules.texts[left] + rules.texts[right]);
            const BpeRules::Merge merge = rules.merge(left, right);
            merges += merged.has_value();
            // ids, and so ranks, begin behind the five special pieces
            wrong += merged ? merge.merged != *merged ||
                                  merge.rank + 5 != static_cast<std::uint32_t>(rules.ids[*merged])
                            : merge.rank != never;
        }
    }
    DOCTEST_CHECK(wrong == 0);
    DOCTEST_CHECK(rules.merges() == merges);
    std::size_t visited = 0;
    rules.for_each_merge([&](Token, Token, std::uint32_t) { ++visited; });
    DOCTEST_CHECK(visited == merges);
}
