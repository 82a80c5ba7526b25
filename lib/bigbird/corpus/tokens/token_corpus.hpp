// SPDX-License-Identifier: Apache-2.0
// Documents as token ids, in memory (compactly: 16 bits per id if the vocabulary allows) or on disk as token
// shards. Both have all ids in one array, and the end of every sentence and document.
#pragma once

#include "bigbird/corpus/documents/document_reader.hpp"
#include "bigbird/corpus/tokens/token_shards.hpp"
#include "bigbird/tokenizer/tokenizer.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace bigbird::corpus {

/// Receives tokenized sentences, as encode_marked() gives them, in order, on one thread. Sentences and
/// documents without a token may be passed.
struct TokenSink {
    std::function<void(std::span<const std::int32_t> ids, std::int64_t bases)> sentence;
    std::function<void()> document_end;
};
/// Passes all documents of a corpus to the sink.
using TokenSource = std::function<void(const TokenSink&)>;

/// Immutable, cheap to copy (shared), thread-safe. Each sentence is tokenized separately, so no token crosses
/// a sentence's end.
class TokenCorpus {
public:
    /// In memory, what the source gives. Sentences and documents without a token are left out.
    static TokenCorpus from(const TokenSource& source, const tokenizer::DnaTokenizer& tokenizer);
    /// The documents of tokenize(), in memory.
    static TokenCorpus from_documents(const std::function<std::optional<Document>()>& next_document,
                                      const tokenizer::DnaTokenizer& tokenizer, int threads);
    /// The output of `tokenize`; tokens are read on access.
    static TokenCorpus from_shards(TokenShards shards);

    std::int64_t documents() const { return static_cast<std::int64_t>(document_ends().size()); }
    std::int64_t sentences() const { return static_cast<std::int64_t>(sentence_ends().size()); }
    std::int64_t tokens() const { return sentence_ends().empty() ? 0 : sentence_ends().back(); }
    std::int64_t bases() const { return state_->bases; }

    /// Sentence s holds the tokens [end of s - 1, end of s) of the flat array; document d the sentences [end
    /// of d - 1, end of d).
    std::span<const std::int64_t> sentence_ends() const {
        return state_->shards ? state_->shards->sentence_ends() : state_->sentence_ends;
    }
    std::span<const std::int64_t> document_ends() const {
        return state_->shards ? state_->shards->document_ends() : state_->document_ends;
    }
    /// First token of a sentence.
    std::int64_t sentence_begin(std::int64_t sentence) const {
        return sentence == 0 ? 0 : sentence_ends()[static_cast<std::size_t>(sentence - 1)];
    }

    /// Whether tokens of repeats are marked (encode_marked()).
    bool is_marked() const { return state_->is_marked; }
    /// Appends the ids of the tokens [begin, end) to `out`, without or with their marks. Throws InputError if
    /// shards are damaged.
    void append_ids(std::int64_t begin, std::int64_t end, std::vector<std::int32_t>& out) const;
    void append_marked(std::int64_t begin, std::int64_t end, std::vector<std::int32_t>& out) const;

private:
    struct State {
        std::int32_t vocabulary = 0;
        bool is_marked = false;
        std::int64_t bases = 0;
        std::vector<std::uint16_t> narrow_ids;  // one of the two has all ids
        std::vector<std::uint32_t> wide_ids;
        std::vector<std::int64_t> sentence_ends, document_ends;
        std::optional<TokenShards> shards;  // instead of all ids and ends
    };
    explicit TokenCorpus(std::shared_ptr<const State> state) : state_(std::move(state)) {}
    std::shared_ptr<const State> state_;
};

}  // namespace bigbird::corpus
