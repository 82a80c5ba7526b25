// SPDX-License-Identifier: Apache-2.0
// Fixtures from transformers and numpy themselves: SHA-256 of the int32 array (heads, blocks - 2,
// random_blocks).
#include "bigbird/attention/pattern/random_plan.hpp"

#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/checksum.hpp"

#include <string>
#include <vector>

using namespace bigbird::attention;

namespace {

using Picks = std::vector<std::int32_t>;

struct Fixture {
    std::uint32_t seed;
    bool google;
    int tokens;
    const char* digest;  ///< the first 16 digits
    Picks first, last;   ///< head 0 row 1, head 11 last row
};

const std::vector<Fixture> fixtures{{0, false, 1024, "868d9dcb71bb7057", {9, 14, 7}, {6, 7, 10}},
                                    {0, true, 2048, "b09fda16c53ddb99", {9, 14, 7}, {6, 9, 7}},
                                    {0, false, 3072, "56160b94cb368d64", {9, 14, 7}, {9, 4, 15}},
                                    {0, false, 4096, "c46970d98425a1ce", {9, 14, 7}, {3, 5, 7}},
                                    {1, false, 4096, "9325d87c0513b86d", {5, 6, 7}, {10, 4, 8}},
                                    {2, false, 4096, "1ce28ca45679bafa", {7, 3, 13}, {10, 14, 12}},
                                    {0, false, 768, "66f309a813e347b3", {4, 6, 7}, {3, 5, 6}},
                                    {0, false, 832, "fb4e3f753c04761c", {4, 6, 7}, {5, 9, 2}},
                                    {0, false, 2048, "ab8baf030537d4a1", {4, 6, 7}, {5, 3, 8}},
                                    {1, false, 2048, "1f7640204a8c5f7f", {3, 4, 6}, {8, 4, 1}},
                                    {0, false, 4032, "447364b1de548c74", {4, 6, 7}, {3, 4, 2}}};

std::string little_endian(const Picks& picks) {
    std::string bytes;
    for (const std::int32_t pick : picks) {
        for (int shift = 0; shift < 32; shift += 8) {
            bytes.push_back(static_cast<char>((static_cast<std::uint32_t>(pick) >> shift) & 0xFF));
        }
    }
    return bytes;
}

}  // namespace

DOCTEST_TEST_CASE("random_plan: the picks of transformers and of the authors' code, bit for bit") {
    for (const Fixture& f : fixtures) {
        DOCTEST_CAPTURE(f.tokens);
        DOCTEST_CAPTURE(f.seed);
        RandomPlanSpec spec;
        spec.blocks = f.tokens / 64;
        spec.heads = 12;
        spec.google = f.google;
        const Picks picks = random_plan(spec, f.seed);
        DOCTEST_REQUIRE(picks.size() == static_cast<std::size_t>(12 * (spec.blocks - 2) * 3));
        DOCTEST_CHECK(Picks(picks.begin(), picks.begin() + 3) == f.first);
        DOCTEST_CHECK(Picks(picks.end() - 3, picks.end()) == f.last);
        DOCTEST_CHECK(bigbird::sha256_of_text(little_endian(picks)).substr(0, 16) == f.digest);
    }
}

DOCTEST_TEST_CASE("random_plan: a model that is too short for its plan is refused") {
    RandomPlanSpec spec;
    spec.blocks = 64;
    spec.heads = 1;
    spec.plan_tokens = 2048;
    DOCTEST_CHECK_THROWS_AS(random_plan(spec, 0), bigbird::ConfigError);
}
