// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/formats/sentencepiece_model.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/protobuf_wire.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

namespace bigbird::tokenizer {

namespace {

// Field numbers of sentencepiece_model.proto.
constexpr std::uint32_t pieces_field = 1, trainer_spec_field = 2, normalizer_spec_field = 3;
constexpr std::uint32_t text_field = 1, score_field = 2, kind_field = 3;  // of a piece
constexpr std::uint32_t input_field = 1, model_type_field = 3;            // of the trainer
constexpr std::uint32_t add_dummy_prefix_field = 3;                       // of the normalizer
constexpr std::uint64_t bpe = 2;

// Calls visit(field) for each field until it returns false. Returns whether all were read.
bool read_fields(std::string_view message, const std::function<bool(const WireField&)>& visit) {
    WireReader reader(message);
    while (const std::optional<WireField> field = reader.next())
        if (!visit(*field)) return false;
    return !reader.damaged();
}

bool parse_piece(std::string_view message, ModelPiece& piece) {
    const bool read = read_fields(message, [&](const WireField& field) {
        const bool is_kind = field.field == kind_field && field.type == WireType::varint;
        if (field.field == text_field && field.type == WireType::bytes)
            piece.text = field.bytes;
        else if (field.field == score_field && field.type == WireType::fixed32)
            piece.score = field.float32();
        else if (is_kind)
            piece.kind = static_cast<PieceKind>(field.number);
        return !is_kind || (field.number >= 1 && field.number <= 6);
    });
    return read && !piece.text.empty() && !std::isnan(piece.score);  // pieces are sorted by score
}

bool parse(std::string_view bytes, SentencePieceModel& model) {
    const bool read = read_fields(bytes, [&](const WireField& field) {
        if (field.field == trainer_spec_field)
            model.trainer_spec = field.bytes;
        else if (field.field == normalizer_spec_field)
            model.normalizer_spec = field.bytes;
        return field.type == WireType::bytes &&
               (field.field != pieces_field || parse_piece(field.bytes, model.pieces.emplace_back()));
    });
    const auto read_trainer = [&](const WireField& field) {
        if (field.field == model_type_field && field.type == WireType::varint)
            model.is_bpe = field.number == bpe;
        else if (field.field == input_field && field.type == WireType::bytes && model.input.empty())
            model.input = field.bytes;
        return true;
    };
    const auto read_normalizer = [&](const WireField& field) {
        if (field.field == add_dummy_prefix_field && field.type == WireType::varint)
            model.adds_blank = field.number != 0;
        return true;
    };
    return read && !model.pieces.empty() && read_fields(model.trainer_spec, read_trainer) &&
           read_fields(model.normalizer_spec, read_normalizer);
}

}  // namespace

SentencePieceModel parse_sentencepiece_model(std::string_view bytes, const std::filesystem::path& origin) {
    SentencePieceModel model;
    if (!parse(bytes, model)) {
        throw InputError(
            "is not a SentencePiece model, or a damaged one; make the tokenizer with train-tokenizer",
            origin);
    }
    return model;
}

std::string serialize(const SentencePieceModel& model) {
    WireWriter writer;
    for (const ModelPiece& piece : model.pieces) {
        WireWriter message;
        message.bytes(text_field, piece.text);
        message.float32(score_field, piece.score);
        if (piece.kind != PieceKind::normal)
            message.number(kind_field, static_cast<std::uint64_t>(piece.kind));
        writer.bytes(pieces_field, message.text());
    }
    writer.bytes(trainer_spec_field, model.trainer_spec);
    writer.bytes(normalizer_spec_field, model.normalizer_spec);
    return writer.text();
}

BpeRules bpe_rules_of(const SentencePieceModel& model, const std::filesystem::path& origin) {
    if (!model.is_bpe) throw InputError("is not a byte-pair encoding (SentencePiece model type bpe)", origin);
    BpeRules rules;
    std::vector<float> scores;
    for (std::size_t id = 0; id < model.pieces.size(); ++id) {
        const ModelPiece& piece = model.pieces[id];
        if (piece.kind == PieceKind::unknown) {
            rules.unknown_id = static_cast<std::int32_t>(id);
        } else if (piece.kind == PieceKind::normal) {
            if (rules.find(piece.text)) throw InputError("piece '" + piece.text + "' occurs twice", origin);
            rules.add(piece.text, static_cast<std::int32_t>(id));
            scores.push_back(piece.score);
        }
    }
    std::vector<float> falling = scores;
    std::sort(falling.begin(), falling.end(), std::greater<>());
    for (Token piece = 0; piece < rules.size(); ++piece) {
        const std::string_view text = rules.texts[piece];
        const auto rank = static_cast<std::uint32_t>(
            std::lower_bound(falling.begin(), falling.end(), scores[piece], std::greater<>()) -
            falling.begin());
        for (std::size_t cut = 1; cut < text.size(); ++cut) {
            const std::optional<Token> left = rules.find(text.substr(0, cut));
            const std::optional<Token> right = left ? rules.find(text.substr(cut)) : std::nullopt;
            if (right) rules.add_merge(*left, *right, rank, piece);
        }
    }
    return rules;
}

}  // namespace bigbird::tokenizer
