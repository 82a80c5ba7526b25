// SPDX-License-Identifier: Apache-2.0
#include "bigbird/corpus/tokens/token_corpus.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include <algorithm>

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
    "token_corpus: sentences are tokenised each by itself, in order, on any number of threads") {
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
        const std::span<const std::int64_t> ends = corpus.document_ends();
        DOCTEST_CHECK(std::vector(ends.begin(), ends.end()) == std::vector<std::int64_t>{2, 3, 5});
    }
    DOCTEST_CHECK(TokenCorpus::from_documents(stream_of({}), tokenizer, 2).documents() == 0);
}

DOCTEST_TEST_CASE("token_corpus: the documents of a genome, without a file between") {
    const auto tokenizer = tokenizer::DnaTokenizer::load(test_data("tokenizer/small.model"));
    const auto genome = genome::open_reference(test_data("genome/multi.fa"));
    const BuildSpec spec{
        .documents = {
            .passes = 2, .sentences = {3, 6}, .sentence_length = {50, 90}, .start_offset = {0, 40}}};
    std::vector<Document> documents;
    build_documents(*genome, spec, BuildText::yes, 1,
                    [&](PlacedDocument&& document) { documents.push_back(document.document()); });
    const auto expected = TokenCorpus::from_documents(stream_of(documents), tokenizer, 1);
    const auto corpus = TokenCorpus::from_genome(*genome, spec, tokenizer, 3);
    DOCTEST_CHECK(corpus.documents() == static_cast<std::int64_t>(documents.size()));
    std::vector<std::int32_t> ours, theirs;
    corpus.append_ids(0, corpus.tokens(), ours);
    expected.append_ids(0, expected.tokens(), theirs);
    DOCTEST_CHECK(ours == theirs);
    DOCTEST_CHECK(std::equal(corpus.document_ends().begin(), corpus.document_ends().end(),
                             expected.document_ends().begin()));
}
