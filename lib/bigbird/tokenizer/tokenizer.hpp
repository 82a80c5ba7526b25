// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/tokenizer/encode/exact_encoder.hpp"
#include "bigbird/tokenizer/formats/sentencepiece_model.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bigbird::tokenizer {

class HfTokenizer;
class KmerEncoder;
class VocabularyTokenizer;

/// A byte-pair encoding of DNA (one of our SentencePiece models, or a tokenizer.json like GENA-LM's), the
/// k-mers of kmer_tokenizer(), or those of a vocab.txt (vocabulary_file.hpp). Immutable, cheap to copy
/// (shared), thread-safe.
class DnaTokenizer {
public:
    /// Loads a .model, a tokenizer.json, a vocab.txt, or a folder with one of them. If the folder has
    /// several, uses tokenizer.model, or tokenizer.json if it lists tokens that add_tokens() added. Throws
    /// InputError: missing or corrupt file, or a tokenizer.json that HfTokenizer refuses. Also a model whose
    /// special tokens are not [PAD] 0, [UNK] 1, [CLS] 2, [SEP] 3, [MASK] 4, whose other tokens spell more
    /// than A C G T N or lack one of the five, or that adds blanks.
    static DnaTokenizer load(const std::filesystem::path& path);
    /// From a .model file's bytes; `origin` is the file that errors name.
    static DnaTokenizer from_serialized(std::string bytes, const std::filesystem::path& origin);

    /// Ids of a sequence of any length, without [CLS] and [SEP]. Long sequences are encoded in chunks on up
    /// to `threads` threads (k-mers on one thread, which is fast enough). Our own tokenizers normalize the
    /// sequence first (lower case, U, IUPAC letters); a .model gives SentencePiece's ids, never [UNK]. Other
    /// tokenizer.json files encode the unchanged sequence as AutoTokenizer does.
    std::vector<std::int32_t> encode(std::string_view dna, int threads = 1) const {
        return state_->encode(dna, threads, false).ids;
    }
    /// The same ids, and the letters of `dna` for each.
    Encoding encode_with_spans(std::string_view dna, int threads = 1) const {
        return state_->encode(dna, threads, true);
    }
    /// The sequence of the ids; special tokens are omitted. Throws ConfigError if an id is outside the
    /// vocabulary.
    std::string decode(std::span<const std::int32_t> ids) const;

    std::int32_t vocab_size() const { return static_cast<std::int32_t>(state_->pieces.size()); }
    SpecialIds special_ids() const { return state_->special_ids; }
    /// Number of special tokens around a sequence: [CLS] and [SEP]; only [CLS] in Nucleotide Transformer.
    std::int32_t frame() const { return state_->special_ids.sep < 0 ? 1 : 2; }
    /// Whether piece_length() of each id is the number of letters that it stands for in any text. Else only
    /// encode_with_spans() knows: a token may stand for a run of N.
    bool has_fixed_lengths() const { return state_->has_fixed_lengths; }
    /// Throws InputError if a special token that networks need is missing, and names it.
    void require_special_pieces() const;
    /// Number of bases of a token, 0 for special tokens, 1 for overlapping k-mers.
    std::int32_t piece_length(std::int32_t id) const {
        return state_->lengths.at(static_cast<std::size_t>(id));
    }
    /// Whether the token contains N or another letter except A C G T (or is [UNK]).
    bool has_n(std::int32_t id) const { return state_->has_n.at(static_cast<std::size_t>(id)); }
    const std::string& piece(std::int32_t id) const {
        return state_->pieces.at(static_cast<std::size_t>(id));
    }
    /// The .model or tokenizer.json file's bytes, for copying into model directories.
    const std::string& serialized() const { return state_->bytes; }
    /// What a .model records of its training text: train-tokenizer a TextSketch, SentencePiece's own trainer
    /// paths. Empty if it has none.
    const std::string& trained_on() const { return state_->model.input; }
    /// "tokenizer.model", "tokenizer.json" or "vocab.txt".
    const char* file_name() const { return state_->file_name; }
    /// The content of tokenizer_config.json that belongs to the file.
    Json config_json(std::int64_t max_length) const;
    /// The .vocab file that belongs to a .model, as spm_export_vocab writes it: piece, tab, score, one per
    /// line.
    std::string vocabulary_text() const;

private:
    struct State {
        State(SentencePieceModel&& read, std::string&& serialized, const std::filesystem::path& origin);
        State(const HfTokenizer& read, std::string&& serialized);
        State(const KmerEncoder& cut, std::string&& serialized);
        State(const VocabularyTokenizer& read, std::string&& serialized);
        void add(const std::string& text, std::size_t length);

        SentencePieceModel model;  // of a .model, else empty
        std::string bytes;
        std::function<Encoding(std::string_view dna, int threads, bool with_spans)> encode;
        SpecialIds special_ids;
        std::vector<std::string> pieces;    // by id
        std::vector<std::int32_t> lengths;  // by id
        std::vector<bool> has_n;            // by id
        const char* file_name = "tokenizer.json";
        bool has_fixed_lengths = true;
        std::size_t overlapping = 0;  // the length of k-mers that overlap
        Json config;                  // of a vocab.txt
    };
    explicit DnaTokenizer(std::shared_ptr<const State> state) : state_(std::move(state)) {}
    std::shared_ptr<const State> state_;
};

/// Writes tokenizer.model (unless the tokenizer came from a tokenizer.json), tokenizer.json and
/// tokenizer_config.json into an existing folder, over existing files. A model folder has these files; with
/// them, transformers' AutoTokenizer gives the same ids between [CLS] and [SEP]. `max_length` is the
/// network's longest sequence in tokens. Throws WriteError.
void write_tokenizer_files(const DnaTokenizer& tokenizer, std::int64_t max_length,
                           const std::filesystem::path& folder);

/// Single bases (k = 1) or k-mers that do not overlap, as KmerEncoder cuts them. Its file is a
/// tokenizer.json, from which DnaTokenizer::load makes the same tokenizer. Throws ConfigError if k is not in
/// [1, 12].
DnaTokenizer kmer_tokenizer(int k);

/// The k of such a tokenizer; nullopt for any other.
std::optional<int> kmer_length(const DnaTokenizer& tokenizer);

/// What a network reads: tokens of a tokenizer's file, or k-mers.
struct InputSpec {
    std::filesystem::path tokenizer = {};
    std::optional<int> kmer_length = {};  ///< instead of a file; 1: single bases

    bool names_tokenizer() const { return kmer_length || !tokenizer.empty(); }
    /// Throws ConfigError if no tokenizer is named or k is out of range, InputError as DnaTokenizer::load.
    DnaTokenizer open() const;
};

}  // namespace bigbird::tokenizer
