// SPDX-License-Identifier: Apache-2.0
// A vocab.txt of k-mers, one token per line, with the rules of the tokenizer that it belongs to.
#pragma once

#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/tokenizer/encode/exact_encoder.hpp"
#include "bigbird/tokenizer/formats/sentencepiece_model.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace bigbird::tokenizer {

/// With <cls> in the vocabulary, transformers' EsmTokenizer (Nucleotide Transformer): the leftmost longest
/// token of the vocabulary, again and again; a run of other letters is one <unk>; blanks vanish. With [CLS],
/// DNABERT's tokenizer: overlapping k-mers, one per base but the last k - 1; those with other letters are
/// [UNK]. Immutable, cheap to copy (shared), thread-safe.
class VocabularyTokenizer {
public:
    /// `config`: tokenizer_config.json's content or null; its eos_token says whether <eos> ends a sequence.
    /// Throws InputError if the text is neither kind of vocabulary.
    VocabularyTokenizer(std::string_view text, const Json& config, const std::filesystem::path& origin);

    /// By id.
    const std::vector<std::string>& tokens() const;
    const SpecialIds& special_ids() const;
    /// The length of overlapping k-mers; 0 if tokens do not overlap.
    std::size_t overlapping() const;
    /// Spans of overlapping k-mers are their first bases. Spans of blanks are missing.
    Encoding encode(std::string_view text, bool with_spans) const;
    /// The content of tokenizer_config.json. `max_length`: the network's longest sequence in tokens.
    Json config(std::int64_t max_length) const;

private:
    struct State;
    std::shared_ptr<const State> state_;
};

}  // namespace bigbird::tokenizer
