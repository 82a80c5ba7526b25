// SPDX-License-Identifier: Apache-2.0
// Hugging Face's tokenizer.json: written for our tokenizers, and read where it holds a byte-pair encoding of
// DNA such as GENA-LM's.
#pragma once

#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/tokenizer/encode/exact_encoder.hpp"
#include "bigbird/tokenizer/formats/hf_normalizer.hpp"
#include "bigbird/tokenizer/formats/sentencepiece_model.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bigbird::tokenizer {

/// A tokenizer.json with which transformers' AutoTokenizer gives DnaTokenizer's ids between [CLS] and [SEP],
/// for ASCII text. DnaTokenizer must accept `model`.
Json tokenizer_json(const SentencePieceModel& model);

/// tokenizer_config.json for it, or for another tokenizer with these special tokens; `max_length` is the
/// network's longest sequence in tokens.
Json tokenizer_config_json(const SpecialIds& special_ids, std::int64_t max_length);

/// tokenizer.json with which transformers' AutoTokenizer gives KmerEncoder's ids between [CLS] and [SEP], for
/// ASCII text: the k-mers are words of a WordLevel model, a regular expression cuts them. Throws ConfigError
/// if KmerEncoder does not support k.
std::string kmer_json(int k);

/// Returns the k whose kmer_json() is equivalent to `text`, with any order of keys and spacing; nullopt if
/// there is none.
std::optional<int> kmer_length_of_json(std::string_view text);

/// A Hugging Face byte-pair encoding. Immutable, thread-safe.
class HfTokenizer {
public:
    /// From a tokenizer.json's text; `file` is named by errors. Throws InputError: not a tokenizer.json, not
    /// BPE, or an unsupported normalizer, pre-tokenizer or pattern (which it names).
    HfTokenizer(std::string_view text, const std::filesystem::path& file);

    /// Ids without those that the template adds, and with `with_spans` the letters of `text` for each. Text
    /// is ASCII; added tokens in it are found as in Hugging Face's library (hf_normalizer.hpp). Letters that
    /// the normalizer removes (blanks around the text) are in no span.
    Encoding encode(std::string_view text, int threads, bool with_spans) const;
    /// By id; empty for special tokens of several letters that are not DNA.
    const std::vector<std::string>& texts() const { return texts_; }
    /// The id of an added token ("[CLS]") or of the unknown token; -1 where there is none.
    std::int32_t special_id(std::string_view name) const;

private:
    using Rewrite = std::function<void(NormalizedString&)>;

    void read(const nlohmann::json& json, const std::filesystem::path& file);
    void read_added(const nlohmann::json& json, const std::filesystem::path& file);
    void read_normalizers(const nlohmann::json& json, const std::filesystem::path& file);
    void read_splits(const nlohmann::json& json, const std::filesystem::path& file);
    void set_text(std::int32_t id, const std::string& text);
    NormalizedString rewrite(std::string_view text, bool traced) const;
    std::vector<std::string_view> split(std::string_view text) const;

    std::optional<ExactEncoder> encoder_;  // set by the constructor
    std::vector<std::string> texts_;
    AddedTokens added_, added_normalized_;
    std::vector<Rewrite> rewrites_;
    std::vector<TextPattern> splits_;
    bool drops_blanks_ = false;
    std::map<std::string, std::int32_t, std::less<>> special_ids_;
};

}  // namespace bigbird::tokenizer
