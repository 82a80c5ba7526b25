// SPDX-License-Identifier: Apache-2.0
// Hugging Face's tokenizer.json: written for our tokenizers, and read where it holds a byte-pair encoding of
// DNA such as GENA-LM's.
#pragma once

#include "bigbird/core/json_file.hpp"
#include "bigbird/tokenizer/exact_encoder.hpp"
#include "bigbird/tokenizer/sentencepiece_model.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bigbird::tokenizer {

/// tokenizer.json with which transformers' AutoTokenizer gives the ids of DnaTokenizer between [CLS] and
/// [SEP], for ASCII text. `model` is one that DnaTokenizer accepts.
Json tokenizer_json(const SentencePieceModel& model);

/// tokenizer_config.json for it; `max_length` is the longest sequence, in tokens, of the network beside it.
Json tokenizer_config_json(std::int64_t max_length);

/// A Hugging Face byte-pair encoding. Immutable, thread-safe.
class HfTokenizer {
public:
    /// Throws InputError: no tokenizer.json, no BPE, or a normaliser, pre-tokeniser or pattern that is not
    /// understood (it says which).
    static HfTokenizer load(const std::filesystem::path& tokenizer_json);
    ~HfTokenizer();
    HfTokenizer(HfTokenizer&&) noexcept;

    /// Ids without what the template adds. Text is ASCII; added tokens inside it are not looked for.
    std::vector<std::int32_t> encode(std::string_view text, int threads = 1) const;
    /// Ids as AutoTokenizer gives them for one sequence: with the template's tokens ([CLS] A [SEP]).
    std::vector<std::int32_t> encode_with_template(std::string_view text, int threads = 1) const;
    /// What the ids spell; added tokens spell nothing. Throws ConfigError where an id lies outside the
    /// vocabulary.
    std::string decode(std::span<const std::int32_t> ids) const;
    std::int32_t vocab_size() const;

private:
    struct State;
    explicit HfTokenizer(std::unique_ptr<const State> state);
    std::unique_ptr<const State> state_;
};

}  // namespace bigbird::tokenizer
