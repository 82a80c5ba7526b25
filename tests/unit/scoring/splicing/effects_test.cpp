// SPDX-License-Identifier: Apache-2.0
#include "bigbird/scoring/splicing/effects.hpp"

#include "support/testing.hpp"

#include <initializer_list>
#include <vector>

using namespace bigbird;
using namespace bigbird::splicing;
using Numbers = std::vector<float>;
using Positions = std::array<std::int64_t, 4>;

namespace {

/// (positions, 3) of acceptor and donor probabilities.
Numbers probabilities(const Numbers& acceptors, const Numbers& donors) {
    Numbers values;
    for (std::size_t i = 0; i < acceptors.size(); ++i)
        values.insert(values.end(), {1 - acceptors[i] - donors[i], acceptors[i], donors[i]});
    return values;
}

/// Acceptors only.
Numbers acceptors(const Numbers& values) {
    return probabilities(values, Numbers(values.size()));
}

struct Alleles {
    std::int64_t distance = 2, ref_length = 1, alt_length = 1;
    AlleleWindow operator()(const Numbers& ref, const Numbers& alt) const {
        return {ref, alt, distance, ref_length, alt_length};
    }
};

}  // namespace

DOCTEST_TEST_CASE("splice effects: a substitution's largest gains and losses, and where they are") {
    const Numbers ref = probabilities({0, 0.75F, 0, 0, 0}, {0.25F, 0, 0, 0, 0.5F}),
                  alt = probabilities({0, 0.25F, 0, 0.5F, 0}, {0.5F, 0, 0, 0, 0.25F});
    const SpliceEffect effect = program_effect(Alleles{}(ref, alt), std::nullopt);
    DOCTEST_CHECK(effect.scores == std::array{0.5, 0.5, 0.25, 0.25});
    DOCTEST_CHECK(effect.positions == Positions{1, -1, -2, 2});
    DOCTEST_CHECK(text_of(effect) == "0.50|0.50|0.25|0.25|1|-1|-2|2");
    DOCTEST_CHECK(text_of(exact_effect(Alleles{}(ref, alt), nullptr)) == text_of(effect));
}

DOCTEST_TEST_CASE("splice effects: the first of equal differences, -D where nothing differs") {
    const Numbers none = acceptors({0, 0.5F, 0, 0.5F, 0}), both = acceptors({0, 1, 0, 1, 0});
    DOCTEST_CHECK(text_of(program_effect(Alleles{}(none, both), std::nullopt)) ==
                  "0.50|0.00|0.00|0.00|-1|-2|-2|-2");
    DOCTEST_CHECK(text_of(program_effect(Alleles{}(none, none), std::nullopt)) ==
                  "0.00|0.00|0.00|0.00|-2|-2|-2|-2");
}

DOCTEST_TEST_CASE("splice effects: the program prints -0.00 of a largest difference below 0, exact 0.00") {
    const Numbers ref = acceptors({0.5F, 0.5F, 0.5F, 0.5F, 0.5F}),
                  alt = acceptors({0.25F, 0.25F, 0.498F, 0.25F, 0.25F});
    DOCTEST_CHECK(text_of(program_effect(Alleles{}(ref, alt), std::nullopt)) ==
                  "-0.00|0.25|0.00|0.00|0|-2|-2|-2");
    DOCTEST_CHECK(text_of(exact_effect(Alleles{}(ref, alt), nullptr)) == "0.00|0.25|0.00|0.00|0|-2|-2|-2");
    // A masked difference below 0, and one that is printed as it is.
    const Numbers lower = acceptors({0.25F, 0.25F, 0.25F, 0.25F, 0.25F});
    DOCTEST_CHECK(text_of(program_effect(Alleles{}(ref, lower), -2)) == "-0.00|0.25|0.00|0.00|-2|-2|-2|-2");
    DOCTEST_CHECK(text_of(program_effect(Alleles{}(ref, lower), 1)) == "-0.25|0.00|0.00|0.00|-2|-2|-2|-2");
}

DOCTEST_TEST_CASE("splice effects: C's rounding of the float32 difference") {
    for (const auto& [difference, text] : {std::pair{0.005F, "0.00"},
                                           {0.015F, "0.01"},
                                           {0.025F, "0.03"},
                                           {0.125F, "0.12"},
                                           {0.375F, "0.38"}}) {
        const Numbers ref = acceptors({0, 0, 0, 0, 0}), alt = acceptors({difference, 0, 0, 0, 0});
        DOCTEST_CHECK(text_of(program_effect(Alleles{}(ref, alt), std::nullopt)).substr(0, 4) == text);
    }
}

DOCTEST_TEST_CASE("splice effects: an insertion has the maximum over its bases and the base before") {
    const Alleles insertion{.alt_length = 3};
    const Numbers ref = acceptors({0, 0, 0.25F, 0, 0});
    DOCTEST_CHECK(text_of(program_effect(insertion(ref, acceptors({0, 0, 0.125F, 0.5F, 0.75F, 0, 0.25F})),
                                         std::nullopt)) == "0.50|0.00|0.00|0.00|0|-2|-2|-2");
    DOCTEST_CHECK(text_of(program_effect(insertion(ref, acceptors({0, 0, 0.125F, 0, 0, 0, 0.5F})),
                                         std::nullopt)) == "0.50|0.12|0.00|0.00|2|0|-2|-2");
    const Numbers alt = acceptors({0, 0, 0.125F, 0, 0, 0, 0.5F});
    DOCTEST_CHECK(text_of(exact_effect(insertion(ref, alt), nullptr)) == "0.50|0.12|0.00|0.00|2|0|-2|-2");
}

DOCTEST_TEST_CASE("splice effects: a deletion has zeros behind the anchor") {
    const Alleles deletion{.ref_length = 2};
    const Numbers ref = acceptors({0, 0, 0, 0.5F, 0.25F});
    DOCTEST_CHECK(text_of(program_effect(deletion(ref, acceptors({0, 0, 0.75F, 0.5F})), std::nullopt)) ==
                  "0.75|0.50|0.00|0.00|0|1|-2|-2");
}

DOCTEST_TEST_CASE("splice effects: a deletion longer than D loses the anchor in the program only") {
    // 2 D = 4 bases of REF: three are deleted, more than D = 2. The program's window ends D bases behind POS,
    // so that two positions of the alternative allele are left, and zeros begin before the anchor: a false
    // loss of its site, the third position.
    const Alleles deletion{.ref_length = 4};
    DOCTEST_CHECK(text_of(program_effect(deletion(acceptors({0, 0.5F, 0.875F, 0, 0}), acceptors({0, 0.5F})),
                                         std::nullopt)) == "0.00|0.88|0.00|0.00|-2|0|-2|-2");
    // The exact window ends D bases behind REF.
    DOCTEST_CHECK(text_of(exact_effect(deletion(acceptors({0, 0.5F, 0.875F, 0, 0.25F, 0, 0.5F, 0}),
                                                acceptors({0, 0.5F, 0.875F, 0.75F, 0})),
                                       nullptr)) == "0.25|0.25|0.00|0.00|4|2|-2|-2");
}

DOCTEST_TEST_CASE("splice effects: the program masks the largest, exact masks before the largest is taken") {
    const Numbers ref = probabilities({0, 0.75F, 0, 0, 0.5F}, {0, 0, 0, 0, 0}),
                  alt = probabilities({0.25F, 0, 0, 1, 0}, {0, 0, 0, 0, 0.5F});
    // Nearest end of an exon at +1: its gain is masked, and the loss elsewhere.
    DOCTEST_CHECK(text_of(program_effect(Alleles{}(ref, alt), 1)) == "0.00|0.00|0.50|0.00|1|-1|2|-2");
    DOCTEST_CHECK(text_of(program_effect(Alleles{}(ref, alt), -1)) == "1.00|0.75|0.50|0.00|1|-1|2|-2");
    // The largest gain that is no known acceptor, the largest loss that is one.
    const KnownSites sites{.acceptors = {1, 2}, .donors = {-1}};
    DOCTEST_CHECK(text_of(exact_effect(Alleles{}(ref, alt), &sites)) == "0.25|0.50|0.50|0.00|-2|2|2|-2");
    const KnownSites others{.acceptors = {-2}, .donors = {2}};
    DOCTEST_CHECK(text_of(exact_effect(Alleles{}(ref, alt), &others)) == "1.00|0.00|0.00|0.00|1|-1|-2|-2");
}

DOCTEST_TEST_CASE("splice effects: exact compares alleles of one length base by base, and joins others") {
    const Alleles two{.ref_length = 2, .alt_length = 2};
    DOCTEST_CHECK(text_of(exact_effect(
                      two(acceptors({0, 0, 0.5F, 0.25F, 0, 0}), acceptors({0, 0, 0.25F, 0.75F, 0, 0.125F})),
                      nullptr)) == "0.50|0.25|0.00|0.00|1|0|-2|-2");
    // Three bases become two: the first has the larger of both, the others none.
    const Alleles shorter{.ref_length = 3, .alt_length = 2};
    DOCTEST_CHECK(text_of(exact_effect(shorter(acceptors({0, 0, 0, 0.5F, 0.25F, 0, 0}),
                                               acceptors({0, 0, 0.25F, 0.75F, 0, 0.125F})),
                                       nullptr)) == "0.75|0.50|0.00|0.00|0|1|-2|-2");
    const Alleles longer{.ref_length = 2, .alt_length = 3};
    DOCTEST_CHECK(text_of(exact_effect(longer(acceptors({0, 0, 0.5F, 0.25F, 0, 0}),
                                              acceptors({0, 0, 0.25F, 0.75F, 0, 0.125F, 0})),
                                       nullptr)) == "0.25|0.25|0.00|0.00|0|1|-2|-2");
}

DOCTEST_TEST_CASE("splice effects: Pangolin's largest gain and loss over tissues") {
    const Alleles one{.distance = 1};
    const Numbers ref{0.5F, 0.25F, 0, 0, 0.25F, 0.5F}, alt{0.5F, 0.75F, 0.25F, 0, 0.25F, 0};
    const PangolinEffect effect = pangolin_effect(one(ref, alt), 2, nullptr);
    DOCTEST_CHECK(effect.gain == 0.5);
    DOCTEST_CHECK(effect.gain_at == -1);
    DOCTEST_CHECK(effect.loss == -0.5);
    DOCTEST_CHECK(effect.loss_at == 1);
    const std::vector<std::int64_t> ends{-1};
    const PangolinEffect masked = pangolin_effect(one(ref, alt), 2, &ends);
    DOCTEST_CHECK(masked.gain == 0.25);
    DOCTEST_CHECK(masked.gain_at == 0);
    DOCTEST_CHECK(masked.loss == 0);
}
