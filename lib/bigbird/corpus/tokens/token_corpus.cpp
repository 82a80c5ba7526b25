// SPDX-License-Identifier: Apache-2.0
#include "bigbird/corpus/tokens/token_corpus.hpp"

#include "bigbird/core/check.hpp"
#include "bigbird/corpus/tokens/tokenize.hpp"

#include <algorithm>

namespace bigbird::corpus {

TokenCorpus TokenCorpus::from(const TokenSource& source, const tokenizer::DnaTokenizer& tokenizer) {
    const auto state = std::make_shared<State>();
    state->vocabulary = tokenizer.vocab_size();
    const bool narrow = state->vocabulary <= shard_format::largest_narrow_vocabulary;
    std::vector<std::int64_t>&sentences = state->sentence_ends, &documents = state->document_ends;
    const auto add_sentence = [&](std::span<const std::int32_t> ids, std::int64_t bases) {
        if (ids.empty()) return;
        if (narrow)
            state->narrow_ids.insert(state->narrow_ids.end(), ids.begin(), ids.end());
        else
            state->wide_ids.insert(state->wide_ids.end(), ids.begin(), ids.end());
        state->is_marked = state->is_marked || std::ranges::max(ids) >= state->vocabulary;
        sentences.push_back((sentences.empty() ? 0 : sentences.back()) + std::ssize(ids));
        state->bases += bases;
    };
    const auto end_document = [&] {
        if (std::ssize(sentences) > (documents.empty() ? 0 : documents.back()))
            documents.push_back(std::ssize(sentences));
    };
    source({.sentence = add_sentence, .document_end = end_document});
    return TokenCorpus(state);
}

TokenCorpus TokenCorpus::from_documents(const std::function<std::optional<Document>()>& next_document,
                                        const tokenizer::DnaTokenizer& tokenizer, int threads) {
    return from([&](const TokenSink& sink) { tokenize(next_document, tokenizer, threads, sink); }, tokenizer);
}

TokenCorpus TokenCorpus::from_shards(TokenShards shards) {
    shards.require_rising_ends();
    auto state = std::make_shared<State>();
    state->vocabulary = shards.tokenizer().vocab_size();
    state->is_marked = shards.is_marked();
    state->bases = shards.counts().bases;
    state->shards = std::move(shards);
    return TokenCorpus(std::move(state));
}

void TokenCorpus::append_ids(std::int64_t begin, std::int64_t end, std::vector<std::int32_t>& out) const {
    const auto before = std::ssize(out);
    append_marked(begin, end, out);
    if (!is_marked()) return;
    for (auto id = out.begin() + before; id != out.end(); ++id)
        *id %= state_->vocabulary;
}

void TokenCorpus::append_marked(std::int64_t begin, std::int64_t end, std::vector<std::int32_t>& out) const {
    BIGBIRD_EXPECTS(begin >= 0 && begin <= end && end <= tokens(), "tokens outside the corpus");
    if (state_->shards)
        state_->shards->append_marked({begin, end}, out);
    else if (!state_->narrow_ids.empty())
        out.insert(out.end(), state_->narrow_ids.begin() + begin, state_->narrow_ids.begin() + end);
    else
        out.insert(out.end(), state_->wide_ids.begin() + begin, state_->wide_ids.begin() + end);
}

}  // namespace bigbird::corpus
