// SPDX-License-Identifier: Apache-2.0
#include "bigbird/pretraining/masked/token_scores.hpp"

#include "bigbird/core/log.hpp"

#include <algorithm>
#include <numbers>
#include <string>

namespace bigbird::pretraining {

namespace {

/// The sentences of a corpus, in order.
struct SentenceWalk {
    const corpus::TokenCorpus& corpus;
    std::int64_t document = 0, sentence = 0;  // sentence: of all

    std::int64_t first_of_document() const {
        return document == 0 ? 0 : corpus.document_ends()[static_cast<std::size_t>(document - 1)];
    }
    std::int64_t end() const { return corpus.sentence_ends()[static_cast<std::size_t>(sentence)]; }
    /// Goes on to the sentence that holds the token.
    void reach(std::int64_t token) {
        while (end() <= token)
            ++sentence;
        while (corpus.document_ends()[static_cast<std::size_t>(document)] <= sentence)
            ++document;
    }
};

}  // namespace

void write_token_scores(std::vector<TokenScore> scores, const corpus::TokenCorpus& corpus,
                        const tokenizer::DnaTokenizer& tokenizer, genome::TextOutput& output) {
    std::ranges::stable_sort(scores, {}, &TokenScore::token);
    output.write("#document\tsentence\tstart\tend\tpiece\tbits\tcorrect\n");
    SentenceWalk walk{corpus};
    std::int64_t held = -1, next = 0,
                 start = 0;  // the sentence whose ids are in memory; its first token is `start`
    std::vector<std::int32_t> ids;
    for (const TokenScore& score : scores) {
        walk.reach(score.token);
        const std::int64_t begin = corpus.sentence_begin(walk.sentence);
        if (walk.sentence != held) {
            held = walk.sentence;
            ids.clear();
            corpus.append_ids(begin, walk.end(), ids);
            next = begin;
            start = 0;
        }
        for (; next < score.token; ++next)
            start += tokenizer.piece_length(ids[static_cast<std::size_t>(next - begin)]);
        const std::int32_t id = ids[static_cast<std::size_t>(score.token - begin)];
        output.write(fmt::format("{}\t{}\t{}\t{}\t{}\t{:.4f}\t{}\n", walk.document + 1,
                                 walk.sentence - walk.first_of_document() + 1, start,
                                 start + tokenizer.piece_length(id), tokenizer.piece(id),
                                 score.nats / std::numbers::ln2, score.correct ? 1 : 0));
    }
}

}  // namespace bigbird::pretraining
