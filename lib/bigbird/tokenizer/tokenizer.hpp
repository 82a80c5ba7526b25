// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/tokenizer/exact_encoder.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bigbird::tokenizer {

/// The special pieces' ids, the same in every tokenizer of ours.
namespace special {
inline constexpr std::int32_t pad = 0, unk = 1, cls = 2, sep = 3, mask = 4, count = 5;
}

/// A DNA byte-pair encoding in a SentencePiece model. Immutable, cheap to copy (shared), thread-safe.
class DnaTokenizer {
public:
    /// Throws InputError: missing or corrupt model; one whose special pieces are not [PAD] 0, [UNK] 1, [CLS]
    /// 2, [SEP] 3, [MASK] 4; one whose other pieces do not spell A C G T N, or lack one of the five; one that
    /// adds blanks of its own.
    static DnaTokenizer load(const std::filesystem::path& model);
    /// From a .model file's bytes; `origin` is the file that errors name.
    static DnaTokenizer from_serialized(std::string bytes, const std::filesystem::path& origin);

    /// Ids of a sequence, without [CLS] and [SEP]. The sequence is normalised first (lower case, U, IUPAC
    /// letters); any length, cut into chunks for up to `threads` threads where it is long. The ids are
    /// SentencePiece's own for the normalised sequence; none is [UNK].
    std::vector<std::int32_t> encode(std::string_view dna, int threads = 1) const;
    /// The same ids, and which bases each spells.
    Encoding encode_with_spans(std::string_view dna, int threads = 1) const;
    /// The sequence spelt; special pieces spell nothing. Throws ConfigError where an id lies outside the
    /// vocabulary.
    std::string decode(std::span<const std::int32_t> ids) const;

    std::int32_t vocab_size() const;
    /// Bases that a piece spells, 0 for special pieces.
    std::int32_t piece_length(std::int32_t id) const;
    /// True where the piece holds an N (or is [UNK]).
    bool has_n(std::int32_t id) const;
    const std::string& piece(std::int32_t id) const;
    /// The .model file's bytes, for copying into model directories.
    const std::string& serialized() const;
    /// The .vocab file that belongs to the model, as spm_export_vocab writes it: piece, tab, score, one a
    /// line.
    std::string vocabulary_text() const;

private:
    struct State;
    explicit DnaTokenizer(std::shared_ptr<const State> state) : state_(std::move(state)) {}
    std::shared_ptr<const State> state_;
};

}  // namespace bigbird::tokenizer
