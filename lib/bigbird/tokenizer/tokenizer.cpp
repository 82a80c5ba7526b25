// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/tokenizer.hpp"

#include "bigbird/core/check.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/is_there.hpp"
#include "bigbird/core/formats/mapped_file.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/nucleotide.hpp"
#include "bigbird/tokenizer/encode/bpe_rules.hpp"
#include "bigbird/tokenizer/encode/kmer_encoder.hpp"
#include "bigbird/tokenizer/formats/hf_tokenizer.hpp"
#include "bigbird/tokenizer/formats/vocabulary_file.hpp"

#include <algorithm>
#include <array>
#include <ostream>
#include <sstream>
#include <utility>

namespace bigbird::tokenizer {
namespace fs = std::filesystem;

namespace {

constexpr const char* vocabulary_name = "vocab.txt";
constexpr std::string_view letters = "ACGTN";

void expect_special_pieces(const SentencePieceModel& model, const std::filesystem::path& origin) {
    const ModelPiece nothing{"nothing", 0, PieceKind::unused};
    for (std::size_t id = 0; id < special_names.size(); ++id) {
        const std::string name = special_names[id];
        const ModelPiece& found = id < model.pieces.size() ? model.pieces[id] : nothing;
        const PieceKind kind =
            id == static_cast<std::size_t>(special::unk) ? PieceKind::unknown : PieceKind::control;
        if (found.text != name || found.kind != kind) {
            throw InputError("id " + std::to_string(id) + " is " + found.text +
                                 (found.text == name ? " of the wrong kind" : "") + " where " + name +
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
        const auto piece = std::ranges::find(model.pieces, std::string(1, letter), &ModelPiece::text);
        if (piece == model.pieces.end() || model.adds_blank) {
            throw InputError(std::string("does not encode ") + letter +
                                 " as one piece of its own; make the tokenizer with train-tokenizer",
                             origin);
        }
    }
}

std::string normalised(std::string_view dna) {
    std::string letters_only(dna.size(), 'N');
    std::transform(dna.begin(), dna.end(), letters_only.begin(), normalised_base);
    return letters_only;
}

/// Whether transformers' add_tokens() extended this file, which makes a tokenizer.model beside it outdated.
bool lists_added_tokens(const std::filesystem::path& json) {
    const std::string text = read_whole_file(json);
    return text.find("\"special\": false") != std::string::npos ||
           text.find("\"special\":false") != std::string::npos;
}

}  // namespace

DnaTokenizer::State::State(SentencePieceModel&& read, std::string&& serialized,
                           const std::filesystem::path& origin)
    : model(std::move(read)), bytes(std::move(serialized)), file_name("tokenizer.model") {
    const ExactEncoder encoder(bpe_rules_of(model, origin));
    if (const std::size_t lost = encoder.unreachable().size(); lost > 0)
        log_debug("{}: encoding never gives {} of the pieces", origin.string(), lost);
    encode = [encoder](std::string_view dna, int threads, bool with_spans) {
        return encoder.encode(normalised(dna), threads, with_spans);
    };
    for (const ModelPiece& piece : model.pieces)
        add(piece.text, piece.kind == PieceKind::normal ? piece.text.size() : 0);
}

DnaTokenizer::State::State(const HfTokenizer& read, std::string&& serialized)
    : bytes(std::move(serialized)), has_fixed_lengths(false) {
    encode = [read](std::string_view dna, int threads, bool with_spans) {
        return read.encode(dna, threads, with_spans);
    };
    const auto id_of = [&](const char* name) { return read.special_id(name); };
    special_ids = {id_of("[PAD]"), id_of("[UNK]"), id_of("[CLS]"), id_of("[SEP]"), id_of("[MASK]")};
    for (const std::string& text : read.texts())
        add(text, text.size());
    for (const char* name : special_names)
        if (const std::int32_t id = id_of(name); id >= 0) pieces[static_cast<std::size_t>(id)] = name;
    if (special_ids.unk >= 0)  // networks need it, encoding does not
        has_n[static_cast<std::size_t>(special_ids.unk)] = true;
}

DnaTokenizer::State::State(const KmerEncoder& cut, std::string&& serialized) : bytes(std::move(serialized)) {
    encode = [cut](std::string_view dna, int, bool with_spans) { return cut.encode(dna, with_spans); };
    for (std::int32_t id = 0; id < cut.vocab_size(); ++id) {
        const bool ordinary = id >= special::count;
        const std::string text = ordinary ? cut.spelling(id) : special_names[static_cast<std::size_t>(id)];
        add(text, ordinary ? text.size() : 0);
    }
}

DnaTokenizer::State::State(const VocabularyTokenizer& read, std::string&& serialized)
    : bytes(std::move(serialized)),
      special_ids(read.special_ids()),
      file_name("vocab.txt"),
      has_fixed_lengths(false),
      overlapping(read.overlapping()),
      config(read.config(0)) {
    encode = [read](std::string_view dna, int, bool with_spans) { return read.encode(dna, with_spans); };
    for (const std::string& token : read.tokens()) {
        const bool is_special = token.starts_with('<') || token.starts_with('[');
        add(token, is_special ? 0 : overlapping > 0 ? 1 : token.size());
    }
}

void DnaTokenizer::State::add(const std::string& text, std::size_t length) {
    const bool n = length > 0 && text.find_first_not_of("ACGT") != std::string::npos;
    has_n.push_back(n || static_cast<std::int32_t>(pieces.size()) == special_ids.unk);
    pieces.push_back(text);
    lengths.push_back(static_cast<std::int32_t>(length));
}

DnaTokenizer DnaTokenizer::load(const std::filesystem::path& path) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
        if (path.filename() != vocabulary_name) return from_serialized(read_whole_file(path), path);
        std::string text = read_whole_file(path);
        const fs::path config = path.parent_path() / "tokenizer_config.json";
        const VocabularyTokenizer read(text, is_there(config) ? read_json(config) : Json(), path);
        return DnaTokenizer(std::make_shared<State>(read, std::move(text)));
    }
    const std::filesystem::path model = path / "tokenizer.model", json = path / "tokenizer.json";
    const bool has_model = is_there(model);
    const bool take_json = is_there(json) && (!has_model || lists_added_tokens(json));
    if (const fs::path vocabulary = path / vocabulary_name; !has_model && !take_json && is_there(vocabulary))
        return load(vocabulary);
    return load(take_json ? json : model);
}

DnaTokenizer DnaTokenizer::from_serialized(std::string bytes, const std::filesystem::path& origin) {
    if (bytes.starts_with('{')) {
        if (const std::optional<int> k = kmer_length_of_json(bytes))
            return DnaTokenizer(std::make_shared<State>(KmerEncoder(*k), std::move(bytes)));
        const HfTokenizer read(bytes, origin);
        return DnaTokenizer(std::make_shared<State>(read, std::move(bytes)));
    }
    SentencePieceModel model = parse_sentencepiece_model(bytes, origin);
    expect_special_pieces(model, origin);
    expect_dna_pieces(model, origin);
    return DnaTokenizer(std::make_shared<State>(std::move(model), std::move(bytes), origin));
}

std::string DnaTokenizer::decode(std::span<const std::int32_t> ids) const {
    std::string dna;
    for (const std::int32_t id : ids) {
        if (id < 0 || id >= vocab_size()) {
            throw ConfigError("id " + std::to_string(id) + " lies outside the tokenizer's vocabulary of " +
                              std::to_string(vocab_size()));
        }
        if (piece_length(id) == 0) continue;
        const std::size_t shared =
            state_->overlapping > 0 ? std::min(state_->overlapping - 1, dna.size()) : 0;
        dna += std::string_view(piece(id)).substr(shared);
    }
    return dna;
}

void DnaTokenizer::require_special_pieces() const {
    const SpecialIds& ids = state_->special_ids;
    const std::array all{ids.pad, ids.unk, ids.cls, ids.sep, ids.mask};
    const bool needs_separator = file_name() != std::string_view(vocabulary_name);
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i] < 0 && (i != special::sep || needs_separator)) {
            throw InputError(std::string("the tokenizer has no ") + special_names[i] +
                             ", which a network needs; make one with train-tokenizer");
        }
    }
}

Json DnaTokenizer::config_json(std::int64_t max_length) const {
    if (!state_->config.is_object()) return tokenizer_config_json(special_ids(), max_length);
    Json config = state_->config;
    config["model_max_length"] = max_length;
    return config;
}

std::string DnaTokenizer::vocabulary_text() const {
    BIGBIRD_EXPECTS(!state_->model.pieces.empty(), "a .vocab belongs to a .model");
    std::ostringstream out;
    for (std::int32_t id = 0; id < vocab_size(); ++id)
        out << piece(id) << '\t' << state_->model.pieces[static_cast<std::size_t>(id)].score << '\n';
    return out.str();
}

void write_tokenizer_files(const DnaTokenizer& tokenizer, std::int64_t max_length,
                           const std::filesystem::path& folder) {
    const std::string own_name = tokenizer.file_name();
    write_atomically(folder / own_name, Overwrite::allow,
                     [&](std::ostream& out) { out << tokenizer.serialized(); });
    if (own_name == "tokenizer.model") {
        const SentencePieceModel model = parse_sentencepiece_model(tokenizer.serialized(), own_name);
        write_json(folder / "tokenizer.json", tokenizer_json(model), Overwrite::allow);
    }
    write_json(folder / "tokenizer_config.json", tokenizer.config_json(max_length), Overwrite::allow);
}

DnaTokenizer kmer_tokenizer(int k) {
    return DnaTokenizer::from_serialized(kmer_json(k), "the tokenizer of k-mers");
}

std::optional<int> kmer_length(const DnaTokenizer& tokenizer) {
    return kmer_length_of_json(tokenizer.serialized());
}

DnaTokenizer InputSpec::open() const {
    if (!names_tokenizer())
        throw ConfigError("--tokenizer is needed: a model, bases or kmers:K, such as kmers:6");
    return kmer_length ? kmer_tokenizer(*kmer_length) : DnaTokenizer::load(tokenizer);
}

}  // namespace bigbird::tokenizer
