// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/packed_kernels.hpp"

#include "support/testing.hpp"

#include "bigbird/core/rng.hpp"

#define HWY_WANT_AVX3_DL  // as the kernels do
#include <hwy/highway.h>

#include <algorithm>
#include <functional>
#include <vector>

using namespace bigbird::tokenizer;

namespace {

constexpr std::uint8_t separator = 0xFF;

using Symbols = std::vector<std::uint8_t>;

Symbols random_symbols(bigbird::Rng& rng, std::size_t size, int kinds) {
    Symbols symbols(size, separator);
    for (std::size_t i = 0; i + 1 < size; ++i) {
        symbols[i] = rng.uniform() < 0.02 ? separator : static_cast<std::uint8_t>(rng.between(0, kinds - 1));
    }
    return symbols;
}

std::vector<bool> bits_of(const std::vector<std::uint64_t>& marks, std::size_t size) {
    std::vector<bool> bits(size);
    for (std::size_t i = 0; i < size; ++i) {
        bits[i] = (marks[i / 64] >> i % 64 & 1) != 0;
    }
    return bits;
}

// Runs `body` once with each kind of vector unit that this processor has.
void on_each_target(const std::function<void()>& body) {
    for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
        hwy::SetSupportedTargetsForTest(target);
        hwy::GetChosenTarget().Update(hwy::SupportedTargets());
        DOCTEST_CAPTURE(hwy::TargetName(target));
        body();
    }
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace

DOCTEST_TEST_CASE("tokenizer/packed_kernels: pairs are joined as one by one, with every vector unit") {
    const std::vector<PackedRule> all{{0, 1, 20}, {2, 3, 21}, {0, 3, 22}, {4, 1, 23},
                                      {5, 6, 24}, {5, 3, 25}, {7, 8, 26}, {2, 6, 27}};
    on_each_target([&] {
        bigbird::Rng rng(3);
        for (std::size_t size = 1; size < 400; size += size < 140 ? 1 : 37) {
            const std::vector<PackedRule> rules(all.begin(), all.begin() + rng.between(1, 8));
            const Symbols before = random_symbols(rng, size, 9);
            Symbols expected, marked = before;
            std::vector<bool> marks(size);
            std::uint64_t count = 0;
            for (std::size_t i = 0; i < size; ++i) {
                const auto rule = std::find_if(rules.begin(), rules.end(), [&](const PackedRule& r) {
                    return i + 1 < size && before[i] == r.left && before[i + 1] == r.right;
                });
                expected.push_back(rule == rules.end() ? before[i] : rule->joined);
                if (rule != rules.end()) {
                    marked[i] = rule->joined;
                    marks[i++] = true;
                    ++count;
                }
            }
            Symbols symbols = before;
            std::vector<std::uint64_t> words(mark_words(size), ~std::uint64_t{0});
            DOCTEST_CHECK(join_pairs(symbols.data(), size, rules, words.data()) == count);
            DOCTEST_CHECK(symbols == marked);
            DOCTEST_CHECK(bits_of(words, size) == marks);
            std::vector<std::uint32_t> places(count + list_marks_beyond), expected_places;
            for (std::size_t i = 0; i < size; ++i) {
                if (marks[i]) {
                    expected_places.push_back(static_cast<std::uint32_t>(i));
                }
            }
            places.resize(list_marks(words.data(), words.size(), places.data()));
            DOCTEST_CHECK(places == expected_places);
            symbols.resize(drop_marked(symbols.data(), size, words.data()));
            DOCTEST_CHECK(symbols == expected);
        }
    });
}

DOCTEST_TEST_CASE("tokenizer/packed_kernels: runs and letter pairs are counted as one by one") {
    on_each_target([] {
        bigbird::Rng rng(4);
        for (std::size_t size = 1; size < 400; size += size < 140 ? 1 : 37) {
            const Symbols symbols = random_symbols(rng, size, rng.uniform() < 0.5 ? 2 : 5);
            std::vector<bool> runs(size);
            std::array<std::uint64_t, 25> pairs{}, found{};
            for (std::size_t i = 0; i + 1 < size; ++i) {
                runs[i] = symbols[i] == 1 && symbols[i + 1] == 1;
                if (symbols[i] != separator && symbols[i + 1] != separator) {
                    ++pairs[symbols[i] * std::size_t{5} + symbols[i + 1]];
                }
            }
            std::vector<std::uint64_t> words(mark_words(size));
            DOCTEST_CHECK(mark_runs(symbols.data(), size, 1, words.data()) == pairs[6]);
            DOCTEST_CHECK(bits_of(words, size) == runs);
            count_letter_pairs(symbols.data(), size, found);
            DOCTEST_CHECK(found == pairs);
        }
    });
}
