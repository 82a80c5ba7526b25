// SPDX-License-Identifier: Apache-2.0
#define HWY_WANT_AVX3_DL  // as the kernels do
#include "support/testing.hpp"
#include "support/vector_units.hpp"

#include "bigbird/core/rng.hpp"
#include "bigbird/tokenizer/train/storage/packed_tokens.hpp"

#include <algorithm>
#include <functional>
#include <vector>

using namespace bigbird::tokenizer;
using bigbird::testing::for_each_vector_unit;

namespace {

constexpr std::uint8_t separator = 0xFF;

using Symbols = std::vector<std::uint8_t>;

Symbols random_symbols(bigbird::Rng& rng, std::size_t size, int kinds) {
    Symbols symbols(size, separator);
    for (std::size_t i = 0; i + 1 < size; ++i)
        symbols[i] = rng.uniform() < 0.02 ? separator : static_cast<std::uint8_t>(rng.between(0, kinds - 1));
    return symbols;
}

struct Merged {
    Symbols symbols;
    std::vector<std::uint32_t> positions;
    bool operator==(const Merged&) const = default;
};

// One by one: rule(i) is the rule of symbols i and i + 1, or null.
Merged merge_plainly(const Symbols& symbols, const std::function<const PackedRule*(std::size_t)>& rule) {
    Merged result;
    for (std::size_t i = 0; i < symbols.size(); ++i) {
        const PackedRule* const found = i + 1 < symbols.size() ? rule(i) : nullptr;
        if (found != nullptr) {
            result.positions.push_back(static_cast<std::uint32_t>(result.symbols.size()));
            ++i;
        }
        result.symbols.push_back(found != nullptr ? found->merged : symbols[i]);
    }
    return result;
}

// `kernel` merges so many symbols in place, and lists where.
Merged merge_by(Symbols symbols, const std::function<std::size_t(Symbols&, std::uint32_t*)>& kernel) {
    Merged result{{}, std::vector<std::uint32_t>(symbols.size() + list_beyond)};
    result.positions.resize(kernel(symbols, result.positions.data()));
    symbols.resize(symbols.size() - result.positions.size());
    result.symbols = symbols;
    return result;
}

}  // namespace

DOCTEST_TEST_CASE("tokenizer/packed_kernels: pairs are merged as one by one, with every vector unit") {
    const std::vector<PackedRule> all{{0, 1, 20}, {2, 3, 21}, {0, 3, 22}, {4, 1, 23},
                                      {5, 6, 24}, {5, 3, 25}, {7, 8, 26}, {2, 6, 27}};
    for_each_vector_unit([&] {
        bigbird::Rng rng(3);
        std::size_t merged = 0;
        for (std::size_t size = 1; size < 400; size += size < 140 ? 1 : 37) {
            const std::vector<PackedRule> rules(all.begin(), all.begin() + rng.between(1, 8));
            const Symbols before = random_symbols(rng, size, rng.uniform() < 0.2 ? 2 : 9);
            const Merged expected = merge_plainly(before, [&](std::size_t i) {
                const auto rule = std::find_if(rules.begin(), rules.end(), [&](const PackedRule& r) {
                    return before[i] == r.left && before[i + 1] == r.right;
                });
                return rule == rules.end() ? nullptr : &*rule;
            });
            DOCTEST_CHECK(merge_by(before, [&](Symbols& symbols, std::uint32_t* positions) {
                              return merge_pairs(symbols.data(), size, rules, positions);
                          }) == expected);
            merged += expected.positions.size();
        }
        DOCTEST_CHECK(merged > 500);
    });
}

DOCTEST_TEST_CASE("tokenizer/packed_kernels: runs are merged from their first or second symbol on") {
    for_each_vector_unit([] {
        bigbird::Rng rng(5);
        for (std::size_t size = 1; size < 900; size += size < 140 ? 1 : 37) {
            OddRuns odd{};
            odd[2] = rng.uniform() < 0.5;
            odd[separator] = rng.uniform() < 0.2;
            Symbols before = random_symbols(rng, size, 3);
            if (size > 1 && rng.uniform() < 0.5)  // runs over more than one word
                std::fill(before.begin() + rng.between(0, static_cast<std::int64_t>(size) - 1),
                          before.end() - 1, 1);
            before.insert(before.begin(), rng.uniform() < 0.5 ? separator : std::uint8_t{2});
            const PackedRule rule{1, 1, 20};
            bool skip = false;  // whether the pair at hand is a run's first, and may not be merged
            const Merged expected = merge_plainly(
                before,
                [&](std::size_t i) {
                    skip = i > 0 && before[i] == 1 && before[i - 1] != 1 && odd[before[i - 1]];
                    return i > 0 && !skip && before[i] == 1 && before[i + 1] == 1 ? &rule : nullptr;
                });
            Merged found = merge_by(
                before,
                [&](Symbols& symbols, std::uint32_t* positions) {
                    const std::size_t count = merge_runs(symbols.data() + 1, size, 1, 20, odd, positions);
                    std::for_each(
                        positions, positions + count, [](std::uint32_t& position) { ++position; });
                    return count;
                });
            DOCTEST_CHECK(found == expected);
            DOCTEST_CHECK(count_runs(before.data() + 1, size, 1, odd) == expected.positions.size());
        }
    });
}

DOCTEST_TEST_CASE("tokenizer/packed_kernels: letter pairs are counted as one by one") {
    for_each_vector_unit([] {
        bigbird::Rng rng(4);
        for (std::size_t size = 1; size < 400; size += size < 140 ? 1 : 37) {
            const Symbols symbols = random_symbols(rng, size, rng.uniform() < 0.5 ? 2 : 5);
            std::array<std::uint64_t, 25> pairs{}, found{};
            for (std::size_t i = 0; i + 1 < size; ++i)
                if (symbols[i] != separator && symbols[i + 1] != separator)
                    ++pairs[symbols[i] * std::size_t{5} + symbols[i + 1]];
            count_letter_pairs(symbols.data(), size, found);
            DOCTEST_CHECK(found == pairs);
        }
    });
}
