// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/bpe_rules.hpp"

#include "bigbird/core/check.hpp"
#include "bigbird/core/error.hpp"

#include <algorithm>
#include <functional>

namespace bigbird::tokenizer {

namespace {

constexpr std::size_t first_slots = 64;

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

BpeRules::BpeRules() : slots_(first_slots), by_text_(first_slots, no_token) {
    letters.fill(no_token);
}

std::size_t BpeRules::text_home(std::string_view text) const {
    return std::hash<std::string_view>{}(text) & (by_text_.size() - 1);
}

void BpeRules::index_text(Token token) {
    std::size_t i = text_home(texts[token]);
    while (by_text_[i] != no_token) {
        i = (i + 1) & (by_text_.size() - 1);
    }
    by_text_[i] = token;
}

Token BpeRules::add(std::string_view text, std::int32_t id) {
    BIGBIRD_EXPECTS(!text.empty() && !find(text), "a token's text must be new");
    const auto token = static_cast<Token>(texts.size());
    texts.emplace_back(text);
    ids.push_back(id);
    if (text.size() == 1) {
        letters[static_cast<unsigned char>(text[0])] = token;
    }
    if (texts.size() * 2 > by_text_.size()) {
        by_text_.assign(by_text_.size() * 2, no_token);
        for (Token known = 0; known < token; ++known) {
            index_text(known);
        }
    }
    index_text(token);
    return token;
}

std::optional<Token> BpeRules::find(std::string_view text) const {
    for (std::size_t i = text_home(text); by_text_[i] != no_token; i = (i + 1) & (by_text_.size() - 1)) {
        if (texts[by_text_[i]] == text) {
            return by_text_[i];
        }
    }
    return std::nullopt;
}

std::size_t BpeRules::home(Token left, Token right) const {
    const std::uint64_t key = std::uint64_t{left} << 32 | right;
    return ((key * 0x9E3779B97F4A7C15ULL) >> 32) & (slots_.size() - 1);
}

void BpeRules::grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    joins_ = 0;
    for (const Slot& slot : old) {
        if (slot.join.rank != never) {
            add_join(slot.left, slot.right, slot.join.rank, slot.join.joined);
        }
    }
}

void BpeRules::add_join(Token left, Token right, std::uint32_t rank, Token joined) {
    if ((joins_ + 1) * 2 > slots_.size()) {
        grow();
    }
    std::size_t i = home(left, right);
    while (slots_[i].join.rank != never) {
        if (slots_[i].left == left && slots_[i].right == right) {
            return;
        }
        i = (i + 1) & (slots_.size() - 1);
    }
    slots_[i] = {left, right, {rank, joined}};
    ++joins_;
}

BpeRules::Join BpeRules::join(Token left, Token right) const {
    for (std::size_t i = home(left, right); slots_[i].join.rank != never; i = (i + 1) & (slots_.size() - 1)) {
        if (slots_[i].left == left && slots_[i].right == right) {
            return slots_[i].join;
        }
    }
    return {};
}

BpeRules BpeRules::from_sentencepiece(const SentencePieceModel& model, const std::filesystem::path& origin) {
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
    // A letter inside pieces that is none itself can be joined all the same; alone it is unknown.
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
                rules.add_join(*left, *right, rank, piece);
            }
        }
    }
    return rules;
}

}  // namespace bigbird::tokenizer
