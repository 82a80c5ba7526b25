// SPDX-License-Identifier: Apache-2.0
#include "bigbird/baselines/sequence/markov.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/rng.hpp"

#include <cmath>
#include <string>

using namespace bigbird;
using namespace bigbird::baselines;
using baselines::MarkovModel;
using baselines::TwoSidedModel;

namespace {

double bits_per_base(const baselines::CodeLength& code) {
    return code.bits / static_cast<double>(code.bases);
}

baselines::CodeLength score(const MarkovModel& model, std::string_view dna) {
    return model.score_all(dna).back();
}

}  // namespace

DOCTEST_TEST_CASE("markov: order 0 is the entropy of the composition") {
    MarkovModel model(0);
    std::string dna;
    for (int i = 0; i < 25'000; ++i)
        dna += "AACT";  // 1/2, 1/4, 1/4
    model.add(dna);
    const auto code = score(model, dna);
    DOCTEST_CHECK(code.bases == 100'000);
    DOCTEST_CHECK(bits_per_base(code) == doctest::Approx(1.5).epsilon(1e-3));
}

DOCTEST_TEST_CASE("markov: what was never seen costs two bits, what is certain costs next to none") {
    const MarkovModel empty(5);
    DOCTEST_CHECK(bits_per_base(score(empty, "ACGTACGT")) == doctest::Approx(2.0));
    MarkovModel model(4);
    std::string dna;
    for (int i = 0; i < 10'000; ++i)
        dna += "ACGGT";
    model.add(dna);
    DOCTEST_CHECK(bits_per_base(score(model, dna)) < 0.001);
    MarkovModel blind(1);
    blind.add(dna);  // after G comes G or T, else all is certain: 2/5 of the bases cost one bit
    DOCTEST_CHECK(bits_per_base(score(blind, dna)) == doctest::Approx(0.4).epsilon(0.01));
}

DOCTEST_TEST_CASE("markov: the interpolation by hand") {
    MarkovModel model(1);
    model.add("AAC");
    // Order 0: counts A 2, C 1 of 3, two kinds, so w = 32: p(A) = (2 + 32/4) / 35, p(C) = (1 + 32/4) / 35,
    // p(G) = 8 / 35. Order 1 after A: A 1, C 1, two kinds: p(C | A) = (1 + 32 p(C)) / 34, p(G | A) = 32 p(G)
    // / 34. After G nothing was seen.
    const double a = 10.0 / 35, c = 9.0 / 35, g = 8.0 / 35;
    DOCTEST_CHECK(score(model, "A").bits == doctest::Approx(-std::log2(a)));
    DOCTEST_CHECK(score(model, "AC").bits == doctest::Approx(-std::log2(a) - std::log2((1 + 32 * c) / 34)));
    DOCTEST_CHECK(score(model, "AGA").bits ==
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
        const double base = score(model, context).bits;
        double total = 0;
        for (const char letter : std::string("ACGT"))
            total += std::exp2(base - score(model, context + letter).bits);
        DOCTEST_CHECK(total == doctest::Approx(1.0));
    }
}

DOCTEST_TEST_CASE("markov: N breaks the context and costs nothing") {
    MarkovModel model(3);
    model.add("ACGTTGCAACGTNNACGGTACGT");
    DOCTEST_CHECK(score(model, "NNNN").bases == 0);
    DOCTEST_CHECK(score(model, "NNNN").bits == 0);
    const auto whole = score(model, "ACGTNGGA"), left = score(model, "ACGT"), right = score(model, "GGA");
    DOCTEST_CHECK(whole.bases == 7);
    DOCTEST_CHECK(whole.bits == doctest::Approx(left.bits + right.bits));
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
                      doctest::Approx(score(model, held_out).bits));
        DOCTEST_CHECK(all[static_cast<std::size_t>(order)].bases == score(model, held_out).bases);
    }
}

DOCTEST_TEST_CASE(
    "context counts: orders are interpolated, and what is unknown costs what shorter ones say") {
    ContextCounts counts(2);
    counts.add(0b0111, 2, 0);  // A behind T, and C before that
    counts.add(0b0011, 1, 2);  // G behind T, what is before unknown
    std::vector<CodeLength> lengths(3);
    counts.add_bits(0b0111, 2, 0, lengths);
    const double zero = (1 + 32 / 4.0) / 34, one = (1 + 32 * zero) / 34, two = (1 + 16 * one) / 17;
    DOCTEST_CHECK(lengths[0].bits == doctest::Approx(-std::log2(zero)));
    DOCTEST_CHECK(lengths[1].bits == doctest::Approx(-std::log2(one)));
    DOCTEST_CHECK(lengths[2].bits == doctest::Approx(-std::log2(two)));
    std::vector<CodeLength> shorter(3);
    counts.add_bits(0b0111, 1, 0, shorter);
    DOCTEST_CHECK(shorter[2].bits == doctest::Approx(shorter[1].bits));
    std::vector<CodeLength> unseen(3);
    counts.add_bits(0b1010, 2, 0, unseen);
    DOCTEST_CHECK(unseen[2].bits == doctest::Approx(unseen[0].bits));
}

DOCTEST_TEST_CASE("context counts: letters that are no bases") {
    DOCTEST_CHECK(base_index('A') == 0);
    DOCTEST_CHECK(base_index('T') == 3);
    DOCTEST_CHECK(base_index('N') == -1);
}

namespace {

std::string random_bases(std::size_t length, std::uint64_t seed) {
    Rng rng(seed);
    std::string dna;
    while (dna.size() < length)
        dna += "ACGT"[rng.between(0, 3)];
    return dna;
}

}  // namespace

DOCTEST_TEST_CASE("two-sided: what the neighbours on both sides tell is saved") {
    // Each second base is the one before it where the one behind is A or C, else the complement.
    std::string dna = random_bases(60'000, 1);
    for (std::size_t i = 1; i + 1 < dna.size(); i += 2) {
        const bool same = dna[i + 1] == 'A' || dna[i + 1] == 'C';
        const auto index = static_cast<std::size_t>(baselines::base_index(dna[i - 1]));
        dna[i] = "ACGT"[same ? index : 3 - index];
    }
    TwoSidedModel model(2);
    model.add(dna);
    std::string held_out = dna.substr(0, 30'001);
    const std::vector<baselines::CodeLength> lengths = model.score_all(held_out);
    DOCTEST_REQUIRE(lengths.size() == 3);
    DOCTEST_CHECK(bits_per_base(lengths[0]) == doctest::Approx(2).epsilon(0.01));
    // Half of the bases are decided, but a model does not know which.
    DOCTEST_CHECK(bits_per_base(lengths[1]) < 1.2);
    DOCTEST_CHECK(bits_per_base(lengths[1]) > 1);
}

DOCTEST_TEST_CASE("two-sided: contexts by hand") {
    TwoSidedModel model(1);
    model.add("ACG");
    // C between A and G was seen once. Order 0: A, C, G of 3, three kinds, w = 48: p(C) = (1 + 48/4) / 51.
    // After A (the nearest, before): C, one kind, w = 16: (1 + 16 p) / 17. Between A and G likewise.
    const double zero = (1 + 12.0) / 51, one = (1 + 16 * zero) / 17, two = (1 + 16 * one) / 17;
    const double end = (1 + 12.0) / 51;  // A has nothing before it, G has C before and nothing behind
    const double last = (1 + 16 * end) / 17;
    const std::vector<baselines::CodeLength> lengths = model.score_all("ACG");
    DOCTEST_CHECK(lengths[0].bits == doctest::Approx(-3 * std::log2(zero)));
    DOCTEST_CHECK(lengths[1].bits == doctest::Approx(-std::log2(two) - std::log2(end) - std::log2(last)));
    DOCTEST_CHECK(lengths[1].bases == 3);
}

DOCTEST_TEST_CASE("two-sided: N breaks the context and is not scored") {
    TwoSidedModel model(3);
    model.add(random_bases(5'000, 2));
    const double apart = model.score_all("ACGTAC").back().bits + model.score_all("GGTCA").back().bits;
    const baselines::CodeLength together = model.score_all("ACGTACNGGTCA").back();
    DOCTEST_CHECK(together.bases == 11);
    DOCTEST_CHECK(together.bits == doctest::Approx(apart));
}
