// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/rng.hpp"

#include "support/testing.hpp"

#include <array>
#include <set>

using bigbird::Rng;

DOCTEST_TEST_CASE("rng: a stream is fixed by its seed and names, and differs from its siblings") {
    Rng a = Rng(7).split("documents").split(3), b = Rng(7).split("documents").split(3);
    std::set<std::uint64_t> firsts;
    for (int i = 0; i < 100; ++i) {
        DOCTEST_CHECK(a.next() == b.next());
        firsts.insert(Rng(7).split("documents").split(static_cast<std::uint64_t>(i)).next());
        firsts.insert(Rng(7).split("masks").split(static_cast<std::uint64_t>(i)).next());
        firsts.insert(Rng(8).split("documents").split(static_cast<std::uint64_t>(i)).next());
    }
    DOCTEST_CHECK(firsts.size() == 300);
}

DOCTEST_TEST_CASE("rng: values are part of the formats, so they never change") {
    Rng rng(42);
    const std::array<std::uint64_t, 2> first{rng.next(), rng.next()};
    DOCTEST_CHECK(first[0] == 0x57E1FABA65107204ULL);
    DOCTEST_CHECK(first[1] == 0xF4ABD143FEB24055ULL);
}

DOCTEST_TEST_CASE("rng: bounded values are uniform, both ends included") {
    Rng rng(1);
    std::array<int, 6> counts{};
    for (int i = 0; i < 60'000; ++i) {
        ++counts[static_cast<std::size_t>(rng.between(10, 15) - 10)];
    }
    double chi_squared = 0;
    for (const int count : counts) {
        chi_squared += (count - 10'000.0) * (count - 10'000.0) / 10'000.0;
    }
    DOCTEST_CHECK(chi_squared < 20.5);  // 5 degrees of freedom, p = 0.001
    DOCTEST_CHECK(rng.between(4, 4) == 4);
}

DOCTEST_TEST_CASE("rng: uniform() and normal() have the moments of their distributions") {
    Rng rng(3);
    double sum = 0, normal_sum = 0, normal_squares = 0;
    for (int i = 0; i < 100'000; ++i) {
        const double u = rng.uniform(), z = rng.normal();
        DOCTEST_REQUIRE(u >= 0);
        DOCTEST_REQUIRE(u < 1);
        sum += u;
        normal_sum += z;
        normal_squares += z * z;
    }
    DOCTEST_CHECK(sum / 100'000 == doctest::Approx(0.5).epsilon(0.01));
    DOCTEST_CHECK(normal_sum / 100'000 == doctest::Approx(0).epsilon(0.02));
    DOCTEST_CHECK(normal_squares / 100'000 == doctest::Approx(1).epsilon(0.02));
}
