// SPDX-License-Identifier: Apache-2.0
#include "bigbird/corpus/tokens/batch_tokenizer.hpp"

#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

#include <string>

using namespace bigbird;
using namespace bigbird::corpus;
using bigbird::testing::test_data;

namespace {

/// What came out: "|" ends a sentence, "/" a document.
struct Spelt {
    std::string text;
    std::int64_t bases = 0;

    TokenSink sink(const tokenizer::DnaTokenizer& tokenizer) {
        return {.sentence =
                    [this, &tokenizer](std::span<const std::int32_t> ids, std::int64_t length) {
                        text += tokenizer.decode(ids) + "|";
                        bases += length;
                    },
                .document_end = [this] { text += "/"; }};
    }
};

}  // namespace

DOCTEST_TEST_CASE("batch_tokenizer: sentences come out in order, on any number of threads") {
    const auto tokenizer = tokenizer::DnaTokenizer::load(test_data("tokenizer/small.model"));
    for (const int threads : {1, 3}) {
        Spelt spelt;
        BatchTokenizer batches(tokenizer, threads, spelt.sink(tokenizer));
        for (const char* first : {"ACGT", "GGG", "TTTTTT"}) {
            batches.add(Document{.sentences = {first, "CCA"}});
        }
        DOCTEST_CHECK(spelt.text.empty());  // waits for more
        batches.finish();
        DOCTEST_CHECK(spelt.text == "ACGT|CCA|/GGG|CCA|/TTTTTT|CCA|/");
        DOCTEST_CHECK(spelt.bases == 22);
    }
}

DOCTEST_TEST_CASE("batch_tokenizer: what is long goes on before the end") {
    const auto tokenizer = tokenizer::DnaTokenizer::load(test_data("tokenizer/small.model"));
    std::int64_t documents = 0;
    BatchTokenizer batches(tokenizer, 2,
                           {.sentence = [](std::span<const std::int32_t>, std::int64_t) {},
                            .document_end = [&] { ++documents; }});
    const std::string sentence(3'000'000, 'A');
    for (int i = 0; i < 4; ++i) {
        batches.add(Document{.sentences = {sentence}});
    }
    DOCTEST_CHECK(documents == 3);
    batches.finish();
    DOCTEST_CHECK(documents == 4);
}

DOCTEST_TEST_CASE("batch_tokenizer: what the sink throws comes out") {
    const auto tokenizer = tokenizer::DnaTokenizer::load(test_data("tokenizer/small.model"));
    BatchTokenizer batches(
        tokenizer, 1,
        {.sentence = [](std::span<const std::int32_t>, std::int64_t) { throw WriteError("no space left"); },
         .document_end = [] {}});
    batches.add(Document{.sentences = {"ACGT"}});
    DOCTEST_CHECK_THROWS_AS(batches.finish(), WriteError);
}
