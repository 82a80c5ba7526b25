// SPDX-License-Identifier: Apache-2.0
// Hugging Face's tokenizer.json: written for our tokenizers, and read where it holds a byte-pair encoding of
// DNA such as GENA-LM's.
#pragma once

#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/tokenizer/encode/exact_encoder.hpp"
#include "bigbird/tokenizer/formats/sentencepiece_model.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bigbird::tokenizer {

/// A tokenizer.json with which transformers' AutoTokenizer gives DnaTokenizer's ids between [CLS] and [SEP],
/// for ASCII text. DnaTokenizer must accept `model`.
Json tokenizer_json(const SentencePieceModel& model);

/// The common parts of all tokenizer.json files that we write: special tokens, normalised_base() as a
/// normalizer, [CLS] and [SEP], and a decoder that adds no blanks.
Json tokenizer_json_around(Json model, Json pre_tokenizer);

/// tokenizer_config.json for it, or for another tokenizer with these special tokens; `max_length` is the
/// network's longest sequence in tokens.
Json tokenizer_config_json(const SpecialIds& special_ids, std::int64_t max_length);

/// A Hugging Face byte-pair encoding. Immutable, thread-safe.
class HfTokenizer {
public:
    /// Throws InputError: not a tokenizer.json, not BPE, or an unsupported normalizer, pre-tokenizer or
    /// pattern (which it names).
    static HfTokenizer load(const std::filesystem::path& tokenizer_json);
    /// From a tokenizer.json's text; `origin` is the file that errors name.
    static HfTokenizer from_text(std::string_view text, const std::filesystem::path& origin);
    ~HfTokenizer();
    HfTokenizer(HfTokenizer&&) noexcept;

    /// Ids without those that the template adds. Text is ASCII; added tokens in it are found as in Hugging
    /// Face's library (hf_normalizer.hpp).
    std::vector<std::int32_t> encode(std::string_view text, int threads = 1) const;
    /// The same ids, and the letters of `text` for each. Letters that the normalizer removes (blanks around
    /// the text) are in no span.
    Encoding encode_with_spans(std::string_view text, int threads = 1) const;
    /// The text of the ids; special tokens have none. Throws ConfigError if an id is outside the vocabulary.
    std::string decode(std::span<const std::int32_t> ids) const;
    std::int32_t vocab_size() const;
    /// The text of an id; empty for special tokens of several letters that are not DNA.
    const std::string& text(std::int32_t id) const;
    /// The id of an added token ("[CLS]") or of the unknown token; -1 where there is none.
    std::int32_t special_id(std::string_view name) const;

private:
    struct State;
    explicit HfTokenizer(std::unique_ptr<const State> state);
    std::unique_ptr<const State> state_;
};

}  // namespace bigbird::tokenizer
