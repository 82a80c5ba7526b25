// SPDX-License-Identifier: Apache-2.0
#include "bigbird/baselines/sequence/markov.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/rng.hpp"

#include <cmath>
#include <string>

using namespace bigbird;
using baselines::MarkovModel;

namespace {

double bits_per_base(const baselines::CodeLength& code) {
    return code.bits / static_cast<double>(code.bases);
}

}  // namespace

DOCTEST_TEST_CASE("markov: order 0 is the entropy of the composition") {
    MarkovModel model(0);
    std::string dna;
    for (int i = 0; i < 25'000; ++i)
        dna += "AACT";  // 1/2, 1/4, 1/4
    model.add(dna);
    const auto code = model.score(dna);
    DOCTEST_CHECK(code.bases == 100'000);
    DOCTEST_CHECK(bits_per_base(code) == doctest::Approx(1.5).epsilon(1e-3));
}

DOCTEST_TEST_CASE("markov: what was never seen costs two bits, what is certain costs next to none") {
    const MarkovModel empty(5);
    DOCTEST_CHECK(bits_per_base(empty.score("ACGTACGT")) == doctest::Approx(2.0));
    MarkovModel model(4);
    std::string dna;
    for (int i = 0; i < 10'000; ++i)
        dna += "ACGGT";
    model.add(dna);
    DOCTEST_CHECK(bits_per_base(model.score(dna)) < 0.001);
    MarkovModel blind(1);
    blind.add(dna);  // after G comes G or T, else all is certain: 2/5 of the bases cost one bit
    DOCTEST_CHECK(bits_per_base(blind.score(dna)) == doctest::Approx(0.4).epsilon(0.01));
}

DOCTEST_TEST_CASE("markov: the interpolation by hand") {
    MarkovModel model(1);
    model.add("AAC");
    // Order 0: counts A 2, C 1 of 3, two kinds, so w = 32: p(A) = (2 + 32/4) / 35, p(C) = (1 + 32/4) / 35,
    // p(G) = 8 / 35. Order 1 after A: A 1, C 1, two kinds: p(C | A) = (1 + 32 p(C)) / 34, p(G | A) = 32 p(G)
    // / 34. After G nothing was seen.
    const double a = 10.0 / 35, c = 9.0 / 35, g = 8.0 / 35;
    DOCTEST_CHECK(model.score("A").bits == doctest::Approx(-std::log2(a)));
    DOCTEST_CHECK(model.score("AC").bits == doctest::Approx(-std::log2(a) - std::log2((1 + 32 * c) / 34)));
    DOCTEST_CHECK(model.score("AGA").bits ==
                  doctest::Approx(-std::log2(a) - std::log2(32 * g / 34) - std::log2(a)));
}

DOCTEST_TEST_CASE("markov: the probabilities of the four bases add up to one") {
    Rng rng(11);
    std::string dna;
    for (int i = 0; i < 5000; ++i)
        dna += "ACGT"[rng.between(0, 3) * rng.between(0, 1)];
    MarkovModel model(6);
    model.add(dna);
    for (int i = 0; i < 50; ++i) {
        const std::string context =
            dna.substr(static_cast<std::size_t>(rng.between(0, 4000)), 8) + (i % 2 == 0 ? "" : "GG");
        const double base = model.score(context).bits;
        double total = 0;
        for (const char letter : std::string("ACGT"))
            total += std::exp2(base - model.score(context + letter).bits);
        DOCTEST_CHECK(total == doctest::Approx(1.0));
    }
}

DOCTEST_TEST_CASE("markov: N breaks the context and costs nothing") {
    MarkovModel model(3);
    model.add("ACGTTGCAACGTNNACGGTACGT");
    DOCTEST_CHECK(model.score("NNNN").bases == 0);
    DOCTEST_CHECK(model.score("NNNN").bits == 0);
    const auto whole = model.score("ACGTNGGA"), left = model.score("ACGT"), right = model.score("GGA");
    DOCTEST_CHECK(whole.bases == 7);
    DOCTEST_CHECK(whole.bits == doctest::Approx(left.bits + right.bits));
    DOCTEST_CHECK_THROWS_AS(MarkovModel(13), ConfigError);
    DOCTEST_CHECK_THROWS_AS(MarkovModel(-1), ConfigError);
}

DOCTEST_TEST_CASE("markov: all orders at once are those of a model each") {
    const std::string text =
        testing::read_file(testing::test_data("tokenizer/sentences.txt")).substr(0, 60'000);
    const std::string training = text.substr(0, 50'000), held_out = "NN" + text.substr(50'000);
    MarkovModel longest(6);
    longest.add(training);
    const std::vector<baselines::CodeLength> all = longest.score_all(held_out);
    for (int order = 0; order <= 6; ++order) {
        MarkovModel model(order);
        model.add(training);
        DOCTEST_CHECK(all[static_cast<std::size_t>(order)].bits ==
                      doctest::Approx(model.score(held_out).bits));
        DOCTEST_CHECK(all[static_cast<std::size_t>(order)].bases == model.score(held_out).bases);
    }
}
