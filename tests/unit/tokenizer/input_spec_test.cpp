// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/input_spec.hpp"

#include "support/testing.hpp"

#include "bigbird/tokenizer/kmer_tokenizer.hpp"

using namespace bigbird;
using namespace bigbird::testing;
using tokenizer::Input;
using tokenizer::InputSpec;

namespace {

std::string refusal(const InputSpec& spec) {
    return message_of<ConfigError>([&] { static_cast<void>(spec.open()); });
}

}  // namespace

DOCTEST_TEST_CASE("input_spec: opens the tokenizer that it names") {
    const auto k_of = [](const InputSpec& spec) { return tokenizer::kmer_length(spec.open()); };
    DOCTEST_CHECK(k_of({.input = Input::bases}) == 1);
    DOCTEST_CHECK(k_of({.input = Input::kmers}) == 6);
    DOCTEST_CHECK(k_of({.input = Input::kmers, .kmer_length = 3}) == 3);
    const InputSpec tokens{.tokenizer = test_data("tokenizer/small.model")};
    DOCTEST_CHECK(tokens.open().vocab_size() == 512);
    DOCTEST_CHECK(tokens.names_tokenizer());
    DOCTEST_CHECK(InputSpec{.input = Input::bases}.names_tokenizer());
    DOCTEST_CHECK_FALSE(InputSpec{}.names_tokenizer());
    DOCTEST_CHECK_NOTHROW(InputSpec{}.validate());  // a corpus may hold it
}

DOCTEST_TEST_CASE("input_spec: says what is missing and what excludes each other") {
    DOCTEST_CHECK(refusal({}) == "--tokenizer MODEL is needed, or --input bases, or --input kmers");
    DOCTEST_CHECK(refusal({.input = Input::bases, .tokenizer = "t.model"}) ==
                  "--tokenizer is for --input tokens; --input bases needs none");
    DOCTEST_CHECK(refusal({.input = Input::kmers, .tokenizer = "t.model"}) ==
                  "--tokenizer is for --input tokens; --input kmers needs none");
    DOCTEST_CHECK(refusal({.input = Input::bases, .kmer_length = 1}) == "--kmer-length is for --input kmers");
    DOCTEST_CHECK(refusal({.kmer_length = 6, .tokenizer = "t.model"}) ==
                  "--kmer-length is for --input kmers");
    DOCTEST_CHECK(refusal({.input = Input::kmers, .kmer_length = 13}) ==
                  "k-mers have 1 to 12 letters, not 13");
}
