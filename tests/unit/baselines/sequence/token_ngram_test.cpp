// SPDX-License-Identifier: Apache-2.0
#include "bigbird/baselines/sequence/token_ngram.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include <cmath>

using namespace bigbird;
using namespace bigbird::baselines;
using namespace bigbird::testing;

namespace {

using Ids = std::vector<std::int32_t>;

tokenizer::DnaTokenizer ngram_tokenizer() {
    return tokenizer::DnaTokenizer::load(test_data("tokenizer/small.model"));
}

double plain_pieces(const tokenizer::DnaTokenizer& tokenizer) {
    double count = 0;
    for (std::int32_t id = tokenizer::special::count; id < tokenizer.vocab_size(); ++id)
        count += tokenizer.has_n(id) ? 0 : 1;
    return count;
}

}  // namespace

DOCTEST_TEST_CASE("token_ngram: the interpolation by hand") {
    const auto tokenizer = ngram_tokenizer();
    TokenNgram model(tokenizer, 2);
    const Ids text{10, 11, 10, 12, 10, 11};
    model.add(text);
    const double flat = 1 / plain_pieces(tokenizer);
    const auto one = [&](double count) { return (count + 3 * flat) / (6 + 3); };
    const double of_10 = one(3);  // no context
    const double of_11_after_10 = (2 + 2 * one(2)) / (3 + 2);
    const double of_12_after_11 = (0 + 1 * one(1)) / (1 + 1);
    const double of_20_after_12 = (0 + 1 * one(0)) / (1 + 1);
    const Ids scored{10, 11, 12, 20};
    const CodeLength length = model.score(scored);
    DOCTEST_CHECK(length.bits == doctest::Approx(-std::log2(of_10) - std::log2(of_11_after_10) -
                                                 std::log2(of_12_after_11) - std::log2(of_20_after_12)));
    std::int64_t bases = 0;
    for (const std::int32_t id : scored)
        bases += tokenizer.piece_length(id);
    DOCTEST_CHECK(length.bases == bases);
}

DOCTEST_TEST_CASE("token_ngram: probabilities of all pieces add up to one, after any context") {
    const auto tokenizer = ngram_tokenizer();
    TokenNgram model(tokenizer, 3);
    const std::string text = read_file(test_data("tokenizer/sentences.txt")).substr(0, 700);
    const Ids ids = tokenizer.encode(text);
    model.add(ids);
    for (const Ids& context : {Ids{}, Ids{ids[3]}, Ids{ids[3], ids[4]}, Ids{ids[9], ids[3]}}) {
        const double before = model.score(context).bits;
        double sum = 0;
        for (std::int32_t id = tokenizer::special::count; id < tokenizer.vocab_size(); ++id) {
            Ids with = context;
            with.push_back(id);
            sum += tokenizer.has_n(id) ? 0 : std::exp2(before - model.score(with).bits);
        }
        DOCTEST_CHECK(sum == doctest::Approx(1));
    }
}

DOCTEST_TEST_CASE("token_ngram: N breaks the context and costs nothing") {
    const auto tokenizer = ngram_tokenizer();
    TokenNgram model(tokenizer, 3);
    const Ids left = tokenizer.encode("ACGTACGTTTGA"), right = tokenizer.encode("GATTACA"),
              n = tokenizer.encode("N");
    model.add(left);
    model.add(right);
    Ids joined = left;
    joined.insert(joined.end(), n.begin(), n.end());
    joined.insert(joined.end(), right.begin(), right.end());
    DOCTEST_CHECK(model.score(joined).bits ==
                  doctest::Approx(model.score(left).bits + model.score(right).bits));
    DOCTEST_CHECK(model.score(joined).bases == 12 + 7);
}
