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

std::optional<ModelPiece> parse_piece(std::string_view message) {
    ModelPiece piece;
    WireReader reader(message);
    while (const std::optional<WireField> field = reader.next()) {
        if (field->field == text_field && field->type == WireType::bytes) {
            piece.text = field->bytes;
        } else if (field->field == score_field && field->type == WireType::fixed32) {
            piece.score = field->float32();
        } else if (field->field == kind_field && field->type == WireType::varint) {
            if (field->number < 1 || field->number > 6) return std::nullopt;
            piece.kind = static_cast<PieceKind>(field->number);
        }
    }
    // Pieces are sorted by score, so scores must not be NaN.
    return reader.damaged() || piece.text.empty() || std::isnan(piece.score)
               ? std::nullopt
               : std::optional(std::move(piece));
}

bool parse_trainer_spec(SentencePieceModel& model) {
    WireReader reader(model.trainer_spec);
    while (const std::optional<WireField> field = reader.next())
        if (field->field == model_type_field && field->type == WireType::varint)
            model.is_bpe = field->number == bpe;
        else if (field->field == input_field && field->type == WireType::bytes && model.input.empty())
            model.input = field->bytes;
    return !reader.damaged();
}

bool parse_normalizer_spec(SentencePieceModel& model) {
    WireReader reader(model.normalizer_spec);
    while (const std::optional<WireField> field = reader.next())
        if (field->field == add_dummy_prefix_field && field->type == WireType::varint)
            model.adds_blank = field->number != 0;
    return !reader.damaged();
}

bool parse(std::string_view bytes, SentencePieceModel& model) {
    WireReader reader(bytes);
    while (const std::optional<WireField> field = reader.next()) {
        if (field->type != WireType::bytes) return false;
        if (field->field == pieces_field) {
            std::optional<ModelPiece> piece = parse_piece(field->bytes);
            if (!piece) return false;
            model.pieces.push_back(std::move(*piece));
        } else if (field->field == trainer_spec_field) {
            model.trainer_spec = field->bytes;
        } else if (field->field == normalizer_spec_field) {
            model.normalizer_spec = field->bytes;
        }
    }
    return !reader.damaged() && !model.pieces.empty() && parse_trainer_spec(model) &&
           parse_normalizer_spec(model);
}

bool is_ascii(std::string_view text) {
    return std::ranges::all_of(
        text, [](char letter) { return static_cast<unsigned char>(letter) < 0x80; });
}

void expect_plain(const SentencePieceModel& model, const std::filesystem::path& origin) {
    if (!model.is_bpe) throw InputError("is not a byte-pair encoding (SentencePiece model type bpe)", origin);
    for (const ModelPiece& piece : model.pieces) {
        const bool plain = piece.kind == PieceKind::normal
                               ? is_ascii(piece.text)
                               : piece.kind == PieceKind::unknown || piece.kind == PieceKind::control;
        if (!plain) {
            throw InputError(
                "piece '" + piece.text +
                    "' is user-defined, unused, a byte or not ASCII, which DNA tokenizers do not have; "
                    "make the tokenizer with train-tokenizer",
                origin);
        }
    }
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
    expect_plain(model, origin);
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
    const std::size_t pieces = rules.size();
    // A letter inside pieces that is not a piece itself can still be merged; alone it is unknown.
    for (std::size_t piece = 0; piece < pieces; ++piece) {
        const std::string text = rules.texts[piece];
        for (const char letter : text)
            if (rules.letters[static_cast<unsigned char>(letter)] == no_token)
                rules.add(std::string_view(&letter, 1), rules.unknown_id);
    }
    std::vector<float> falling = scores;
    std::sort(falling.begin(), falling.end(), std::greater<>());
    for (Token piece = 0; piece < pieces; ++piece) {
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
