// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/build/chromatin_bins.hpp"

#include "support/testing.hpp"

#include "bigbird/core/rng.hpp"

#include <algorithm>
#include <string>

using namespace bigbird;
using namespace bigbird::examples;

namespace {

std::vector<std::int64_t> marked(const std::vector<genome::Span>& spans, std::int64_t size,
                                 std::int64_t count) {
    std::vector<std::int64_t> bins;
    mark_covered_bins(spans, size, count, [&](std::int64_t bin) { bins.push_back(bin); });
    return bins;
}

}  // namespace

DOCTEST_TEST_CASE("chromatin_bins: exactly half is not more than half") {
    DOCTEST_CHECK(marked({{0, 100}}, 200, 10).empty());
    DOCTEST_CHECK(marked({{0, 101}}, 200, 10) == std::vector<std::int64_t>{0});
    DOCTEST_CHECK(marked({{100, 150}, {160, 211}}, 200, 10) == std::vector<std::int64_t>{});
    DOCTEST_CHECK(marked({{50, 100}, {149, 301}}, 200, 10) == std::vector<std::int64_t>{0, 1});
    DOCTEST_CHECK(marked({{190, 1000}}, 200, 3) == std::vector<std::int64_t>{1, 2});
}

DOCTEST_TEST_CASE("chromatin_bins: equal to counting base by base") {
    Rng rng(11);
    for (int round = 0; round < 50; ++round) {
        std::vector<genome::Span> spans;
        std::string covered(3000, '.');
        std::int64_t at = rng.between(0, 100);
        while (at < 2900) {
            const std::int64_t end = at + rng.between(1, 150);
            spans.push_back({at, std::min<std::int64_t>(end, 3000)});
            for (std::int64_t i = at; i < spans.back().end; ++i)
                covered[static_cast<std::size_t>(i)] = 'x';
            at = end + rng.between(1, 120);
        }
        const std::int64_t size = rng.between(1, 250), count = 3000 / size;
        std::vector<std::int64_t> expected;
        for (std::int64_t bin = 0; bin < count; ++bin) {
            const auto begin = covered.begin() + bin * size;
            if (2 * std::count(begin, begin + size, 'x') > size) expected.push_back(bin);
        }
        DOCTEST_CHECK(marked(spans, size, count) == expected);
    }
}

DOCTEST_TEST_CASE("chromatin_bins: N is counted inside the sequence and beyond it") {
    Rng rng(12);
    std::string dna;
    while (dna.size() < 500)
        dna.append(static_cast<std::size_t>(rng.between(1, 30)), rng.between(0, 1) == 0 ? 'N' : 'A');
    const NCounter counter(dna);
    for (int i = 0; i < 500; ++i) {
        const std::int64_t begin = rng.between(-100, 600), end = begin + rng.between(0, 300);
        std::int64_t expected = 0;
        for (std::int64_t p = begin; p < end; ++p) {
            const bool inside = p >= 0 && p < static_cast<std::int64_t>(dna.size());
            expected += !inside || dna[static_cast<std::size_t>(p)] == 'N' ? 1 : 0;
        }
        DOCTEST_CHECK(counter.count(begin, end) == expected);
    }
    DOCTEST_CHECK(NCounter("").count(-5, 5) == 10);
}
