// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/tokenizer.hpp"

#include "bigbird/core/base.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/files.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/tokenizer/bpe_rules.hpp"
#include "bigbird/tokenizer/sentencepiece_model.hpp"

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

void expect_special_pieces(const SentencePieceModel& model, const std::filesystem::path& origin) {
    for (std::size_t id = 0; id < special_names.size(); ++id) {
        const std::string name = special_names[id];
        const bool there = id < model.pieces.size();
        const std::string found = there ? model.pieces[id].text : "nothing";
        const PieceKind kind =
            id == static_cast<std::size_t>(special::unk) ? PieceKind::unknown : PieceKind::control;
        const bool right_kind = there && model.pieces[id].kind == kind;
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

void expect_dna_pieces(const SentencePieceModel& model, const std::filesystem::path& origin) {
    for (std::size_t id = special::count; id < model.pieces.size(); ++id) {
        const ModelPiece& piece = model.pieces[id];
        if (!spells_dna(piece.text) || piece.kind != PieceKind::normal) {
            throw InputError("id " + std::to_string(id) + " is '" + piece.text +
                                 "', which does not spell A C G T N; make the tokenizer with "
                                 "train-tokenizer",
                             origin);
        }
    }
    for (const char letter : letters) {
        const bool known =
            std::any_of(model.pieces.begin(), model.pieces.end(),
                        [&](const ModelPiece& piece) { return piece.text == std::string(1, letter); });
        if (!known || model.adds_blank) {
            throw InputError(std::string("does not encode ") + letter +
                                 " as one piece of its own; make the tokenizer with train-tokenizer",
                             origin);
        }
    }
}

}  // namespace

struct DnaTokenizer::State {
    State(SentencePieceModel&& read, std::string&& serialized, const std::filesystem::path& origin)
        : model(std::move(read)),
          bytes(std::move(serialized)),
          encoder(BpeRules::from_sentencepiece(model, origin)) {
        for (std::size_t id = 0; id < model.pieces.size(); ++id) {
            const bool normal = model.pieces[id].kind == PieceKind::normal;
            const bool n = normal ? model.pieces[id].text.find('N') != std::string::npos : id == special::unk;
            has_n.push_back(n);
        }
    }

    SentencePieceModel model;
    std::string bytes;
    ExactEncoder encoder;
    std::vector<bool> has_n;
};

DnaTokenizer DnaTokenizer::load(const std::filesystem::path& model) {
    return from_serialized(read_whole(model), model);
}

DnaTokenizer DnaTokenizer::from_serialized(std::string bytes, const std::filesystem::path& origin) {
    SentencePieceModel model = parse_sentencepiece_model(bytes, origin);
    expect_special_pieces(model, origin);
    expect_dna_pieces(model, origin);
    auto state = std::make_shared<State>(std::move(model), std::move(bytes), origin);
    if (!state->encoder.unreachable().empty()) {
        log_debug("{}: encoding never gives {} of the pieces", origin.string(),
                  state->encoder.unreachable().size());
    }
    return DnaTokenizer(std::move(state));
}

std::vector<std::int32_t> DnaTokenizer::encode(std::string_view dna, int threads) const {
    std::string letters_only(dna.size(), 'N');
    std::transform(dna.begin(), dna.end(), letters_only.begin(), normalised_base);
    return state_->encoder.encode(letters_only, threads);
}

Encoding DnaTokenizer::encode_with_spans(std::string_view dna, int threads) const {
    std::string letters_only(dna.size(), 'N');
    std::transform(dna.begin(), dna.end(), letters_only.begin(), normalised_base);
    return state_->encoder.encode_with_spans(letters_only, threads);
}

std::string DnaTokenizer::decode(std::span<const std::int32_t> ids) const {
    std::string dna;
    for (const std::int32_t id : ids) {
        if (id < 0 || id >= vocab_size()) {
            throw ConfigError("id " + std::to_string(id) + " lies outside the tokenizer's vocabulary of " +
                              std::to_string(vocab_size()));
        }
        if (id >= special::count) {
            dna += state_->model.pieces[static_cast<std::size_t>(id)].text;
        }
    }
    return dna;
}

std::int32_t DnaTokenizer::vocab_size() const {
    return static_cast<std::int32_t>(state_->model.pieces.size());
}

std::int32_t DnaTokenizer::piece_length(std::int32_t id) const {
    return id < special::count ? 0 : static_cast<std::int32_t>(piece(id).size());
}

bool DnaTokenizer::has_n(std::int32_t id) const {
    return state_->has_n.at(static_cast<std::size_t>(id));
}

const std::string& DnaTokenizer::piece(std::int32_t id) const {
    return state_->model.pieces.at(static_cast<std::size_t>(id)).text;
}

const std::string& DnaTokenizer::serialized() const {
    return state_->bytes;
}

std::string DnaTokenizer::vocabulary_text() const {
    std::ostringstream out;
    for (std::int32_t id = 0; id < vocab_size(); ++id) {
        out << piece(id) << '\t' << state_->model.pieces[static_cast<std::size_t>(id)].score << '\n';
    }
    return out.str();
}

}  // namespace bigbird::tokenizer
