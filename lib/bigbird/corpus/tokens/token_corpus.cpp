// SPDX-License-Identifier: Apache-2.0
#include "bigbird/corpus/tokens/token_corpus.hpp"

#include "bigbird/core/check.hpp"
#include "bigbird/corpus/tokens/tokenize.hpp"

#include <algorithm>

namespace bigbird::corpus {

struct TokenCorpus::State {
    std::int32_t vocabulary = 0;
    bool narrow = true, is_marked = false;
    std::vector<std::uint16_t> narrow_ids;
    std::vector<std::uint32_t> wide_ids;
    std::vector<std::int64_t> sentence_ends, document_ends;
    std::int64_t bases = 0;
    std::optional<TokenShards> shards;  // instead of all above

    std::int64_t tokens() const {
        return static_cast<std::int64_t>(narrow ? narrow_ids.size() : wide_ids.size());
    }

    void add_sentence(std::span<const std::int32_t> ids, std::int64_t length) {
        if (ids.empty()) return;
        if (narrow)
            narrow_ids.insert(narrow_ids.end(), ids.begin(), ids.end());
        else
            wide_ids.insert(wide_ids.end(), ids.begin(), ids.end());
        is_marked = is_marked || std::ranges::max(ids) >= vocabulary;
        sentence_ends.push_back(tokens());
        bases += length;
    }

    void end_document() {
        if (sentences() > (document_ends.empty() ? 0 : document_ends.back()))
            document_ends.push_back(sentences());
    }

    std::int64_t sentences() const { return static_cast<std::int64_t>(sentence_ends.size()); }
};

TokenCorpus TokenCorpus::from(const TokenSource& source, const tokenizer::DnaTokenizer& tokenizer) {
    const auto state = std::make_shared<State>();
    state->vocabulary = tokenizer.vocab_size();
    state->narrow = state->vocabulary <= shard_format::largest_narrow_vocabulary;
    source({.sentence = [&](std::span<const std::int32_t> ids,
                            std::int64_t bases) { state->add_sentence(ids, bases); },
            .document_end = [&] { state->end_document(); }});
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
    state->shards = std::move(shards);
    return TokenCorpus(std::move(state));
}

std::int64_t TokenCorpus::tokens() const {
    return state_->shards ? state_->shards->counts().tokens : state_->tokens();
}

std::int64_t TokenCorpus::bases() const {
    return state_->shards ? state_->shards->counts().bases : state_->bases;
}

std::span<const std::int64_t> TokenCorpus::sentence_ends() const {
    return state_->shards ? state_->shards->sentence_ends() : state_->sentence_ends;
}

std::span<const std::int64_t> TokenCorpus::document_ends() const {
    return state_->shards ? state_->shards->document_ends() : state_->document_ends;
}

bool TokenCorpus::is_marked() const {
    return state_->is_marked;
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
    else if (state_->narrow)
        out.insert(out.end(), state_->narrow_ids.begin() + begin, state_->narrow_ids.begin() + end);
    else
        out.insert(out.end(), state_->wide_ids.begin() + begin, state_->wide_ids.begin() + end);
}

}  // namespace bigbird::corpus
