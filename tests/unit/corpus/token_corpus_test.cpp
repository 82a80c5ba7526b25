// SPDX-License-Identifier: Apache-2.0
#include "bigbird/corpus/token_corpus.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include <numeric>

using namespace bigbird;
using namespace bigbird::corpus;
using bigbird::testing::test_data;

namespace {

std::function<std::optional<Document>()> stream_of(std::vector<Document> documents) {
    return [documents = std::move(documents), next = std::size_t{0}]() mutable -> std::optional<Document> {
        return next < documents.size() ? std::optional(documents[next++]) : std::nullopt;
    };
}

}  // namespace

DOCTEST_TEST_CASE(
    "corpus/token_corpus: sentences are tokenised each by itself, in order, on any number of threads") {
    const auto tokenizer = tokenizer::DnaTokenizer::load(test_data("tokenizer/small.model"));
    const std::vector<Document> documents{
        {{"ACGTACGTTT", "GGGCAAT"}}, {{"NNN"}}, {{"", ""}}, {}, {{"TTTTTTTTTTTTTTTTTT", "", "A"}}};
    for (const int threads : {1, 3}) {
        const auto corpus = TokenCorpus::from_documents(stream_of(documents), tokenizer, threads);
        DOCTEST_CHECK(corpus.documents() == 3);
        DOCTEST_CHECK(corpus.sentences() == 5);
        DOCTEST_CHECK(corpus.bases() == 10 + 7 + 3 + 18 + 1);
        std::vector<std::string> spelt;
        for (std::int64_t s = 0; s < corpus.sentences(); ++s) {
            std::vector<std::int32_t> ids;
            corpus.append_ids(corpus.sentence_begin(s), corpus.sentence_ends()[static_cast<std::size_t>(s)],
                              ids);
            DOCTEST_CHECK(ids == tokenizer.encode(tokenizer.decode(ids)));
            spelt.push_back(tokenizer.decode(ids));
        }
        DOCTEST_CHECK(spelt ==
                      std::vector<std::string>{"ACGTACGTTT", "GGGCAAT", "NNN", "TTTTTTTTTTTTTTTTTT", "A"});
        DOCTEST_CHECK(corpus.tokens() == corpus.sentence_ends().back());
        DOCTEST_CHECK(corpus.document_begin(1) == 2);
        DOCTEST_CHECK(corpus.document_begin(2) == 3);
    }
    DOCTEST_CHECK(TokenCorpus::from_documents(stream_of({}), tokenizer, 2).documents() == 0);
}
