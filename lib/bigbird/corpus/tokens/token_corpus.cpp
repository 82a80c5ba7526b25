// SPDX-License-Identifier: Apache-2.0
#include "bigbird/corpus/tokens/token_corpus.hpp"

#include "bigbird/core/check.hpp"
#include "bigbird/corpus/tokens/batch_tokenizer.hpp"

#include <limits>

namespace bigbird::corpus {

namespace {
constexpr std::int32_t largest_narrow_vocabulary = std::numeric_limits<std::uint16_t>::max() + 1;
}  // namespace

struct TokenCorpus::State {
    bool narrow = true;
    std::vector<std::uint16_t> narrow_ids;
    std::vector<std::uint32_t> wide_ids;
    std::vector<std::int64_t> sentence_ends, document_ends;
    std::int64_t bases = 0;
    std::optional<TokenShards> shards;  // in place of all above

    std::int64_t tokens() const {
        return static_cast<std::int64_t>(narrow ? narrow_ids.size() : wide_ids.size());
    }

    void add_sentence(std::span<const std::int32_t> ids, std::int64_t length) {
        if (ids.empty()) {
            return;
        }
        if (narrow) {
            narrow_ids.insert(narrow_ids.end(), ids.begin(), ids.end());
        } else {
            wide_ids.insert(wide_ids.end(), ids.begin(), ids.end());
        }
        sentence_ends.push_back(tokens());
        bases += length;
    }

    void end_document() {
        if (sentences() > (document_ends.empty() ? 0 : document_ends.back())) {
            document_ends.push_back(sentences());
        }
    }

    std::int64_t sentences() const { return static_cast<std::int64_t>(sentence_ends.size()); }
};

// A corpus while its documents come in.
class TokenCorpus::Builder {
public:
    Builder(const tokenizer::DnaTokenizer& tokenizer, int threads)
        : documents_(tokenizer, threads,
                     {.sentence = [this](std::span<const std::int32_t> ids,
                                         std::int64_t bases) { state_->add_sentence(ids, bases); },
                      .document_end = [this] { state_->end_document(); }}) {
        state_->narrow = tokenizer.vocab_size() <= largest_narrow_vocabulary;
    }
    Builder(const Builder&) = delete;
    Builder& operator=(const Builder&) = delete;

    void add(Document&& document) { documents_.add(std::move(document)); }

    TokenCorpus finish() {
        documents_.finish();
        return TokenCorpus(std::move(state_));
    }

private:
    std::shared_ptr<State> state_ = std::make_shared<State>();
    BatchTokenizer documents_;
};

TokenCorpus TokenCorpus::from_documents(const std::function<std::optional<Document>()>& next_document,
                                        const tokenizer::DnaTokenizer& tokenizer, int threads) {
    Builder builder(tokenizer, threads);
    while (std::optional<Document> document = next_document()) {
        builder.add(std::move(*document));
    }
    return builder.finish();
}

TokenCorpus TokenCorpus::from_file(DocumentReader& documents, const tokenizer::DnaTokenizer& tokenizer,
                                   int threads) {
    return from_documents([&documents] { return documents.next(); }, tokenizer, threads);
}

TokenCorpus TokenCorpus::from_genome(const genome::ReferenceGenome& genome, const BuildSpec& spec,
                                     const tokenizer::DnaTokenizer& tokenizer, int threads) {
    Builder builder(tokenizer, threads);
    build_documents(genome, spec, BuildText::yes, threads,
                    [&](PlacedDocument&& document) { builder.add(document.document()); });
    return builder.finish();
}

TokenCorpus TokenCorpus::from_shards(TokenShards shards) {
    shards.require_rising_ends();
    auto state = std::make_shared<State>();
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

void TokenCorpus::append_ids(std::int64_t begin, std::int64_t end, std::vector<std::int32_t>& out) const {
    BIGBIRD_EXPECTS(begin >= 0 && begin <= end && end <= tokens(), "tokens outside the corpus");
    if (state_->shards) {
        state_->shards->append_ids({begin, end}, out);
    } else if (state_->narrow) {
        out.insert(out.end(), state_->narrow_ids.begin() + begin, state_->narrow_ids.begin() + end);
    } else {
        out.insert(out.end(), state_->wide_ids.begin() + begin, state_->wide_ids.begin() + end);
    }
}

}  // namespace bigbird::corpus
