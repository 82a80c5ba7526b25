// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/rng.hpp"

#include "support/testing.hpp"

#include <array>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <string>

using bigbird::Rng;

DOCTEST_TEST_CASE("rng: values are part of the formats, so they never change") {
    Rng rng(42);
    const std::array<std::uint64_t, 2> first{rng.next(), rng.next()};
    DOCTEST_CHECK(first[0] == 0x57E1FABA65107204ULL);
    DOCTEST_CHECK(first[1] == 0xF4ABD143FEB24055ULL);
}

DOCTEST_TEST_CASE("rng: bounded values are uniform, both ends included") {
    Rng rng(1);
    std::array<int, 6> counts{};
    for (int i = 0; i < 60'000; ++i)
        ++counts[static_cast<std::size_t>(rng.between(10, 15) - 10)];
    double chi_squared = 0;
    for (const int count : counts)
        chi_squared += (count - 10'000.0) * (count - 10'000.0) / 10'000.0;
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

namespace {

/// The generator once more, from its description: SplitMix64 (Steele, Lea, Flood 2014) over a keyed counter,
/// streams named by FNV-1a.
class PlainRng {
public:
    explicit PlainRng(std::uint64_t seed) : key_(mix(seed + gamma)) {}
    PlainRng split(std::uint64_t stream) const {
        PlainRng child(0);
        child.key_ = mix(key_ ^ mix(stream + gamma));
        return child;
    }
    PlainRng split(const std::string& name) const {
        std::uint64_t hash = 14695981039346656037ULL;
        for (const char letter : name)
            hash = (hash ^ static_cast<unsigned char>(letter)) * 1099511628211ULL;
        return split(hash ^ (static_cast<std::uint64_t>(name.size()) << 56));
    }
    std::uint64_t at(std::uint64_t index) const { return mix(key_ + gamma * (index + 1)); }
    std::uint64_t key() const { return key_; }

private:
    static constexpr std::uint64_t gamma = 0x9E3779B97F4A7C15ULL;
    static std::uint64_t mix(std::uint64_t z) {
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
        return z ^ (z >> 31);
    }
    std::uint64_t key_;
};

}  // namespace

DOCTEST_TEST_CASE("rng: the n-th value is a fixed function of seed, names, numbers and n") {
    for (const std::uint64_t seed : {0ULL, 1ULL, 0xFFFFFFFFFFFFFFFFULL}) {
        for (const char* name : {"", "documents", "masks", "\xE2\x96\x81"}) {
            Rng stream = Rng(seed).split(name).split(9);
            const PlainRng plain = PlainRng(seed).split(std::string(name)).split(9);
            DOCTEST_CHECK(stream.key() == plain.key());
            for (std::uint64_t n = 0; n < 20; ++n)
                DOCTEST_CHECK(stream.next() == plain.at(n));
        }
    }
}

DOCTEST_TEST_CASE("rng: splitting draws nothing, and does not depend on what was drawn") {
    Rng fresh(5), used(5);
    const Rng before = used.split("a");
    for (int i = 0; i < 7; ++i)
        used.next();
    DOCTEST_CHECK(used.split("a").key() == before.key());
    Rng copy = used;
    DOCTEST_CHECK(copy.next() == used.next());
    for (int i = 0; i < 8; ++i)
        fresh.next();
    DOCTEST_CHECK(fresh.next() == used.next());
}

DOCTEST_TEST_CASE("rng: bounds of any sign and width, by rejection without bias") {
    Rng rng(2);
    const PlainRng plain(2);
    DOCTEST_CHECK(rng.between(INT64_MIN, INT64_MAX) == static_cast<std::int64_t>(plain.at(0)));
    for (int i = 0; i < 1000; ++i) {
        const std::int64_t value = rng.between(-3, 2);
        DOCTEST_REQUIRE(value >= -3);
        DOCTEST_REQUIRE(value <= 2);
    }
    DOCTEST_CHECK(rng.between(INT64_MIN, INT64_MIN) == INT64_MIN);
    DOCTEST_CHECK_THROWS_AS(rng.between(1, 0), std::logic_error);
    // Of a span of 3 * 2^62, values below 2^62 of the 2^64 are drawn again; else they would come twice.
    constexpr std::int64_t quarter = std::int64_t{1} << 62;
    int lowest = 0;
    for (int i = 0; i < 3000; ++i)
        lowest += rng.between(INT64_MIN, quarter - 1) < INT64_MIN + quarter;
    DOCTEST_CHECK(lowest > 880);  // 1000 expected, 1500 with bias; 26 is a standard deviation
    DOCTEST_CHECK(lowest < 1120);
}

DOCTEST_TEST_CASE("rng: uniform() has 53 bits and is drawn from one value") {
    Rng rng(11);
    const PlainRng plain(11);
    for (std::uint64_t n = 0; n < 100; ++n)
        DOCTEST_CHECK(rng.uniform() == static_cast<double>(plain.at(n) / 2048) / 9007199254740992.0);
}
