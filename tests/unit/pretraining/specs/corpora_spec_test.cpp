// SPDX-License-Identifier: Apache-2.0
#include "bigbird/pretraining/specs/corpora_spec.hpp"

#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

using namespace bigbird;
using namespace bigbird::pretraining;

namespace {

std::string refusal(const CorporaSpec& spec) {
    return testing::message_of<ConfigError>([&] { spec.validate(); });
}

}  // namespace

DOCTEST_TEST_CASE("corpora_spec: some input is needed, and a reference is one") {
    DOCTEST_CHECK(refusal({}) == "--documents is needed, or --reference FASTA to draw documents from");
    DOCTEST_CHECK_NOTHROW(CorporaSpec{.references = {"g.fa"}}.validate());
    DOCTEST_CHECK_NOTHROW(CorporaSpec{.corpus = "shards"}.validate());
    DOCTEST_CHECK_NOTHROW(CorporaSpec{.documents = "d.txt", .references = {"g.fa"}}.validate());
}

DOCTEST_TEST_CASE("corpora_spec: regions are held out of documents that are drawn, and one thing is scored") {
    DOCTEST_CHECK(refusal({.corpus = "shards", .hold_out = {"22"}})
                      .starts_with("--hold-out is for documents drawn from --reference;"));
    DOCTEST_CHECK_NOTHROW(CorporaSpec{.references = {"g.fa"}, .hold_out = {"22"}}.validate());
    DOCTEST_CHECK(refusal({.documents = "d.txt", .evaluate_corpus = "s", .evaluate_documents = "e.txt"}) ==
                  "give one of --hold-out and --evaluate-documents");
    DOCTEST_CHECK(refusal({.references = {"g.fa"}, .hold_out = {"22"}, .evaluate_corpus = "s"}) ==
                  "give one of --hold-out and --evaluate-documents");
}

DOCTEST_TEST_CASE("corpora_spec: whether anything is drawn or held out") {
    DOCTEST_CHECK(CorporaSpec{.references = {"g.fa"}}.draws());
    DOCTEST_CHECK_FALSE(CorporaSpec{.documents = "d.txt"}.draws());
    DOCTEST_CHECK_FALSE(CorporaSpec{.corpus = "shards"}.draws());
    DOCTEST_CHECK_FALSE(CorporaSpec{.corpus = "shards"}.holds_out());
    DOCTEST_CHECK(CorporaSpec{.hold_out = {"22"}}.holds_out());
    DOCTEST_CHECK(CorporaSpec{.evaluate_corpus = "s"}.holds_out());
    DOCTEST_CHECK(CorporaSpec{.evaluate_documents = "e.txt"}.holds_out());
}
