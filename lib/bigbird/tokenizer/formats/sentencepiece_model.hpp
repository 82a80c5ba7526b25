// SPDX-License-Identifier: Apache-2.0
// SentencePiece's .model file: the pieces (tokens), and the settings of their training.
#pragma once

#include "bigbird/tokenizer/encode/bpe_rules.hpp"

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace bigbird::tokenizer {

/// Ids of the special tokens in every tokenizer that we train. Other tokenizers may differ:
/// DnaTokenizer::special_ids().
namespace special {
inline constexpr std::int32_t pad = 0, unk = 1, cls = 2, sep = 3, mask = 4, count = 5;
}

/// -1 if a tokenizer lacks one.
struct SpecialIds {
    std::int32_t pad = special::pad, unk = special::unk, cls = special::cls, sep = special::sep,
                 mask = special::mask;
    bool operator==(const SpecialIds&) const = default;
};

/// The special tokens of every tokenizer that we train, by id.
inline constexpr std::array<const char*, special::count> special_names{"[PAD]", "[UNK]", "[CLS]", "[SEP]",
                                                                       "[MASK]"};

enum class PieceKind : std::uint8_t {
    normal = 1,
    unknown = 2,
    control = 3,
    user_defined = 4,
    unused = 5,
    byte = 6
};

struct ModelPiece {
    std::string text;
    float score = 0;
    PieceKind kind = PieceKind::normal;
    bool operator==(const ModelPiece&) const = default;
};

/// The parts of a BPE model that determine its encoding. The specs are kept as bytes and written unchanged.
struct SentencePieceModel {
    std::vector<ModelPiece> pieces;  ///< by id
    std::string trainer_spec, normalizer_spec;
    std::string input{};  ///< the first input that trainer_spec names; empty: none
    bool is_bpe = false;
    bool adds_blank = true;  ///< "add_dummy_prefix"

    bool operator==(const SentencePieceModel&) const = default;
};

/// Throws InputError naming `origin` if the bytes are not a model.
SentencePieceModel parse_sentencepiece_model(std::string_view bytes, const std::filesystem::path& origin);

/// The .model file's bytes.
std::string serialize(const SentencePieceModel& model);

/// SentencePiece's rules: merge any two neighbors whose joint text is a piece, by descending score. Throws
/// InputError naming `origin` if the model is not BPE, or has a piece twice. Of other pieces than normal and
/// unknown ones there are no rules; letters must be pieces.
BpeRules bpe_rules_of(const SentencePieceModel& model, const std::filesystem::path& origin);

}  // namespace bigbird::tokenizer
