// SPDX-License-Identifier: Apache-2.0
#include "bigbird/baselines/sequence/two_sided.hpp"

#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/rng.hpp"

#include <cmath>
#include <string>

using namespace bigbird;
using baselines::TwoSidedModel;

namespace {

std::string random_bases(std::size_t length, std::uint64_t seed) {
    Rng rng(seed);
    std::string dna;
    while (dna.size() < length)
        dna += "ACGT"[rng.between(0, 3)];
    return dna;
}

double bits_per_base(const baselines::CodeLength& code) {
    return code.bits / static_cast<double>(code.bases);
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
    DOCTEST_CHECK_THROWS_AS(TwoSidedModel(7), ConfigError);
}
