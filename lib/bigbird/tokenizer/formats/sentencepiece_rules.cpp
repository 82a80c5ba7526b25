// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/formats/sentencepiece_rules.hpp"

#include "bigbird/core/error.hpp"

#include <algorithm>
#include <functional>

namespace bigbird::tokenizer {

namespace {

bool is_ascii(std::string_view text) {
    return std::all_of(text.begin(), text.end(),
                       [](char letter) { return static_cast<unsigned char>(letter) < 0x80; });
}

void expect_plain(const SentencePieceModel& model, const std::filesystem::path& origin) {
    if (!model.is_bpe) {
        throw InputError("is not a byte-pair encoding (SentencePiece model type bpe)", origin);
    }
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

BpeRules bpe_rules_of(const SentencePieceModel& model, const std::filesystem::path& origin) {
    expect_plain(model, origin);
    BpeRules rules;
    std::vector<float> scores;
    for (std::size_t id = 0; id < model.pieces.size(); ++id) {
        const ModelPiece& piece = model.pieces[id];
        if (piece.kind == PieceKind::unknown) {
            rules.unknown_id = static_cast<std::int32_t>(id);
        } else if (piece.kind == PieceKind::normal) {
            if (rules.find(piece.text)) {
                throw InputError("piece '" + piece.text + "' occurs twice", origin);
            }
            rules.add(piece.text, static_cast<std::int32_t>(id));
            scores.push_back(piece.score);
        }
    }
    const std::size_t pieces = rules.size();
    // A letter inside pieces that is none itself can be merged all the same; alone it is unknown.
    for (std::size_t piece = 0; piece < pieces; ++piece) {
        const std::string text = rules.texts[piece];
        for (const char letter : text) {
            if (rules.letters[static_cast<unsigned char>(letter)] == no_token) {
                rules.add(std::string_view(&letter, 1), rules.unknown_id);
            }
        }
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
            if (right) {
                rules.add_merge(*left, *right, rank, piece);
            }
        }
    }
    return rules;
}

}  // namespace bigbird::tokenizer
