// SPDX-License-Identifier: Apache-2.0
#include "bigbird/baselines/sequence/baselines.hpp"

#include "unit/pretraining/small_corpus.hpp"

#include "bigbird/core/error.hpp"

using namespace bigbird;
using namespace bigbird::training;
using namespace bigbird::baselines;
using namespace bigbird::testing;

namespace {

corpus::TokenCorpus corpus_of(std::vector<corpus::Document> documents) {
    std::size_t next = 0;
    const auto stream = [&]() -> std::optional<corpus::Document> {
        return next < documents.size() ? std::optional(documents[next++]) : std::nullopt;
    };
    return corpus::TokenCorpus::from_documents(stream, small_tokenizer(), 1);
}

}  // namespace

DOCTEST_TEST_CASE("baselines: sentences of a document are one text, documents are not") {
    const std::vector<int> orders{0, 2};
    Baselines baselines({.orders = orders, .ngrams = {2}, .two_sided = {2}}, small_tokenizer());
    baselines.train(corpus_of({{{"ACGTACGT", "ACGTTT"}}}));
    baselines.score(corpus_of({{{"ACGT", "ACGNA"}}, {{"GTT"}}}));
    const Json json = baselines.to_json(1);
    for (const int order : orders) {
        baselines::MarkovModel model(order);
        model.add("ACGTACGTACGTTT");
        const auto first = model.score_all("ACGTACGNA").back(), second = model.score_all("GTT").back();
        const double expected = (first.bits + second.bits) / static_cast<double>(first.bases + second.bases);
        DOCTEST_CHECK(json["markov_order_" + std::to_string(order)].get<double>() ==
                      doctest::Approx(expected));
    }
    DOCTEST_CHECK(json["baseline_bases"] == 11);
    baselines::TwoSidedModel both(2);
    both.add("ACGTACGTACGTTT");
    DOCTEST_CHECK(
        json["two_sided_2"].get<double>() ==
        doctest::Approx((both.score_all("ACGTACGNA")[2].bits + both.score_all("GTT")[2].bits) / 11));
    DOCTEST_REQUIRE(json["baselines"].size() == 4);
    DOCTEST_CHECK(json["baselines"][2]["name"] == "2-gram of tokens");
    DOCTEST_CHECK(json["baselines"][2]["bits_per_character"] == json["token_2_gram"]);
}

DOCTEST_TEST_CASE("baselines: on real sequence longer contexts help, and the interval holds the figure") {
    Baselines baselines({.orders = {0, 4}, .ngrams = {1, 2}}, small_tokenizer());
    baselines.train(small_corpus(0, 110));
    baselines.score(small_corpus(110));
    const Json json = baselines.to_json(1);
    DOCTEST_CHECK(json["markov_order_4"].get<double>() < json["markov_order_0"].get<double>());
    for (const Json& row : json["baselines"]) {
        const double bits = row["bits_per_character"];
        DOCTEST_CHECK(bits > 1.7);
        DOCTEST_CHECK(bits < 2.2);
        DOCTEST_CHECK(row["bits_per_character_interval"][0].get<double>() < bits);
        DOCTEST_CHECK(row["bits_per_character_interval"][1].get<double>() > bits);
    }
}

DOCTEST_TEST_CASE("baselines: orders out of range are named, none says nothing") {
    DOCTEST_CHECK(message_of<ConfigError>([] {
                      Baselines({.orders = {13}, .ngrams = {}}, small_tokenizer());
                  }) == "orders of Markov chains must lie between 0 and 12");
    DOCTEST_CHECK(message_of<ConfigError>([] {
                      Baselines({.orders = {}, .ngrams = {0}}, small_tokenizer());
                  }) == "lengths of n-grams must lie between 1 and 6");
    DOCTEST_CHECK(Baselines({}, small_tokenizer()).to_json(1).empty());
}
