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
namespace model_field {
constexpr std::uint32_t pieces = 1, trainer_spec = 2, normalizer_spec = 3;
}
namespace piece_field {
constexpr std::uint32_t text = 1, score = 2, kind = 3;
}
namespace trainer_field {
constexpr std::uint32_t input = 1, model_type = 3;
constexpr std::uint64_t bpe = 2;
}  // namespace trainer_field
namespace normalizer_field {
constexpr std::uint32_t add_dummy_prefix = 3;
}

std::optional<ModelPiece> parse_piece(std::string_view message) {
    ModelPiece piece;
    WireReader reader(message);
    while (const std::optional<WireField> field = reader.next()) {
        if (field->field == piece_field::text && field->type == WireType::bytes) {
            piece.text = field->bytes;
        } else if (field->field == piece_field::score && field->type == WireType::fixed32) {
            piece.score = field->float32();
        } else if (field->field == piece_field::kind && field->type == WireType::varint) {
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
        if (field->field == trainer_field::model_type && field->type == WireType::varint)
            model.is_bpe = field->number == trainer_field::bpe;
        else if (field->field == trainer_field::input && field->type == WireType::bytes &&
                 model.input.empty())
            model.input = field->bytes;
    return !reader.damaged();
}

bool parse_normalizer_spec(SentencePieceModel& model) {
    WireReader reader(model.normalizer_spec);
    while (const std::optional<WireField> field = reader.next())
        if (field->field == normalizer_field::add_dummy_prefix && field->type == WireType::varint)
            model.adds_blank = field->number != 0;
    return !reader.damaged();
}

bool parse(std::string_view bytes, SentencePieceModel& model) {
    WireReader reader(bytes);
    while (const std::optional<WireField> field = reader.next()) {
        if (field->type != WireType::bytes) return false;
        if (field->field == model_field::pieces) {
            std::optional<ModelPiece> piece = parse_piece(field->bytes);
            if (!piece) return false;
            model.pieces.push_back(std::move(*piece));
        } else if (field->field == model_field::trainer_spec) {
            model.trainer_spec = field->bytes;
        } else if (field->field == model_field::normalizer_spec) {
            model.normalizer_spec = field->bytes;
        }
    }
    return !reader.damaged() && !model.pieces.empty() && parse_trainer_spec(model) &&
           parse_normalizer_spec(model);
}

bool is_ascii(std::string_view text) {
    return std::all_of(
        text.begin(), text.end(), [](char letter) { return static_cast<unsigned char>(letter) < 0x80; });
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
        message.bytes(piece_field::text, piece.text);
        message.float32(piece_field::score, piece.score);
        if (piece.kind != PieceKind::normal)
            message.number(piece_field::kind, static_cast<std::uint64_t>(piece.kind));
        writer.bytes(model_field::pieces, message.text());
    }
    writer.bytes(model_field::trainer_spec, model.trainer_spec);
    writer.bytes(model_field::normalizer_spec, model.normalizer_spec);
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
