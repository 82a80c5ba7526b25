// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/tokenizer.hpp"

#include "bigbird/core/base.hpp"
#include "bigbird/core/check.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/files.hpp"

#include <sentencepiece_processor.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <sstream>

namespace bigbird::tokenizer {

namespace {

constexpr std::array<const char*, special::count> special_names{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};
constexpr std::string_view letters = "ACGTN";

std::string read_whole(const std::filesystem::path& path) {
    require_readable(path);
    std::ifstream in(path, std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    if (in.bad()) {
        throw InputError("cannot be read", path);
    }
    return bytes;
}

void expect_special_pieces(const sentencepiece::SentencePieceProcessor& processor,
                           const std::filesystem::path& origin) {
    for (int id = 0; id < special::count; ++id) {
        const std::string name = special_names[static_cast<std::size_t>(id)];
        const std::string found = id < processor.GetPieceSize() ? processor.IdToPiece(id) : "nothing";
        const bool right_kind = id < processor.GetPieceSize() &&
                                (id == special::unk ? processor.IsUnknown(id) : processor.IsControl(id));
        if (found != name || !right_kind) {
            throw InputError("id " + std::to_string(id) + " is " + found +
                                 (found == name ? " of the wrong kind" : "") + " where " + name +
                                 " belongs; make the tokenizer with train-tokenizer",
                             origin);
        }
    }
}

bool spells_dna(std::string_view piece) {
    return !piece.empty() && piece.find_first_not_of(letters) == std::string_view::npos;
}

void expect_dna_pieces(const sentencepiece::SentencePieceProcessor& processor,
                       const std::filesystem::path& origin) {
    for (int id = special::count; id < processor.GetPieceSize(); ++id) {
        const std::string& piece = processor.IdToPiece(id);
        if (!spells_dna(piece) || processor.IsControl(id) || processor.IsUnknown(id) ||
            processor.IsUnused(id) || processor.IsByte(id)) {
            throw InputError("id " + std::to_string(id) + " is '" + piece +
                                 "', which does not spell A C G T N; make the tokenizer with "
                                 "train-tokenizer",
                             origin);
        }
    }
    for (const char letter : letters) {
        std::vector<int> ids;
        const std::string base(1, letter);
        const bool encoded = processor.Encode(base, &ids).ok();
        if (!encoded || ids.size() != 1 || processor.IdToPiece(ids.front()) != base) {
            throw InputError("does not encode " + base +
                                 " as one piece of its own; make the tokenizer with train-tokenizer",
                             origin);
        }
    }
}

}  // namespace

struct DnaTokenizer::State {
    sentencepiece::SentencePieceProcessor processor;
    std::string bytes;
    std::vector<std::string> pieces;
    std::vector<bool> has_n;
    std::int32_t n_id = special::unk;
    bool n_stands_alone =
        true;  // no piece joins N with anything, so sequence may be cut at N without changing an id

    void encode_stretch(std::string_view dna, std::vector<std::int32_t>& ids) const {
        if (dna.empty()) {
            return;
        }
        std::vector<int> found;
        const auto status = processor.Encode({dna.data(), dna.size()}, &found);
        BIGBIRD_EXPECTS(status.ok(), "SentencePiece cannot encode: " + status.ToString());
        ids.insert(ids.end(), found.begin(), found.end());
    }
};

DnaTokenizer DnaTokenizer::load(const std::filesystem::path& model) {
    return from_serialized(read_whole(model), model);
}

DnaTokenizer DnaTokenizer::from_serialized(std::string bytes, const std::filesystem::path& origin) {
    auto state = std::make_shared<State>();
    if (bytes.empty() || !state->processor.LoadFromSerializedProto({bytes.data(), bytes.size()}).ok()) {
        throw InputError(
            "is not a SentencePiece model, or a damaged one; make the tokenizer with train-tokenizer",
            origin);
    }
    expect_special_pieces(state->processor, origin);
    expect_dna_pieces(state->processor, origin);
    state->bytes = std::move(bytes);
    for (int id = 0; id < state->processor.GetPieceSize(); ++id) {
        std::string piece = state->processor.IdToPiece(id);
        const bool n = id == special::unk || (id >= special::count && piece.find('N') != std::string::npos);
        if (piece == "N") {
            state->n_id = id;
        } else if (n && id >= special::count) {
            state->n_stands_alone = false;
        }
        state->has_n.push_back(n);
        state->pieces.push_back(std::move(piece));
    }
    return DnaTokenizer(std::move(state));
}

std::vector<std::int32_t> DnaTokenizer::encode(std::string_view dna) const {
    std::string letters_only(dna);
    std::transform(dna.begin(), dna.end(), letters_only.begin(), normalised_base);
    std::vector<std::int32_t> ids;
    ids.reserve(dna.size() / 4);
    if (!state_->n_stands_alone) {
        state_->encode_stretch(letters_only, ids);
        return ids;
    }
    for (std::size_t begin = 0; begin < letters_only.size();) {
        const std::size_t gap = std::min(letters_only.find('N', begin), letters_only.size());
        const std::size_t end = std::min(letters_only.find_first_not_of('N', gap), letters_only.size());
        state_->encode_stretch(std::string_view(letters_only).substr(begin, gap - begin), ids);
        ids.insert(ids.end(), end - gap, state_->n_id);
        begin = end;
    }
    return ids;
}

std::string DnaTokenizer::decode(std::span<const std::int32_t> ids) const {
    std::string dna;
    for (const std::int32_t id : ids) {
        if (id < 0 || id >= vocab_size()) {
            throw ConfigError("id " + std::to_string(id) + " lies outside the tokenizer's vocabulary of " +
                              std::to_string(vocab_size()));
        }
        if (id >= special::count) {
            dna += state_->pieces[static_cast<std::size_t>(id)];
        }
    }
    return dna;
}

std::int32_t DnaTokenizer::vocab_size() const {
    return static_cast<std::int32_t>(state_->pieces.size());
}

std::int32_t DnaTokenizer::piece_length(std::int32_t id) const {
    return id < special::count ? 0 : static_cast<std::int32_t>(piece(id).size());
}

bool DnaTokenizer::has_n(std::int32_t id) const {
    return state_->has_n.at(static_cast<std::size_t>(id));
}

const std::string& DnaTokenizer::piece(std::int32_t id) const {
    return state_->pieces.at(static_cast<std::size_t>(id));
}

const std::string& DnaTokenizer::serialized() const {
    return state_->bytes;
}

std::string DnaTokenizer::vocabulary_text() const {
    std::ostringstream out;
    for (std::int32_t id = 0; id < vocab_size(); ++id) {
        out << piece(id) << '\t' << state_->processor.GetScore(id) << '\n';
    }
    return out.str();
}

}  // namespace bigbird::tokenizer
