// SPDX-License-Identifier: Apache-2.0
#include "support/testing.hpp"
#include "unit/tokenizer/bpe_oracle.hpp"

#include "bigbird/core/rng.hpp"
#include "bigbird/tokenizer/train/storage/packed_tokens.hpp"
#include "bigbird/tokenizer/train/storage/position_list.hpp"
#include "bigbird/tokenizer/train/storage/thread_team.hpp"
#include "bigbird/tokenizer/train/storage/token_array.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace bigbird::testing;
using namespace bigbird::tokenizer;

namespace {

std::vector<std::uint64_t> read(const PositionList& list) {
    const std::vector<char> memory(1);  // prefetched only
    std::vector<std::uint64_t> found;
    list.for_each(memory.data(), 1, [&](std::uint64_t at) { found.push_back(at); });
    return found;
}

}  // namespace

DOCTEST_TEST_CASE("tokenizer/position_list: positions come back, whatever their distance") {
    bigbird::Rng rng(7);
    ListMemory lists;
    for (const std::int64_t widest : {1, 100, 20'000, 3'000'000}) {
        PositionList list(lists);
        std::vector<std::uint64_t> expected;
        std::uint64_t position = 0;
        list.expect(1000, 1000 * static_cast<std::uint64_t>(widest));
        for (int i = 0; i < 1000; ++i) {
            position += static_cast<std::uint64_t>(rng.between(i == 0 ? 0 : 1, widest));
            expected.push_back(position);
            list.push_back(position);
        }
        list.finish();
        DOCTEST_CHECK(read(list) == expected);
        DOCTEST_CHECK(list.memory() < 1000 * 4);
    }
}

DOCTEST_TEST_CASE("tokenizer/position_list: lists written in turn do not touch each other") {
    ListMemory memory;
    bigbird::Rng rng(8);
    std::vector<PositionList> lists;
    std::vector<std::vector<std::uint64_t>> expected(40);
    for (std::size_t i = 0; i < expected.size(); ++i)
        lists.emplace_back(memory);
    for (std::uint64_t position = 1; position < 30'000; ++position) {
        const auto i = static_cast<std::size_t>(rng.between(0, 39));
        lists[i].push_back(position);
        expected[i].push_back(position);
        if (rng.uniform() < 0.001) {
            lists[i].clear();
            expected[i].clear();
        } else if (rng.uniform() < 0.001) {
            lists[i].finish();
        }
    }
    for (std::size_t i = 0; i < expected.size(); ++i) {
        DOCTEST_CHECK(read(lists[i]) == expected[i]);
        PositionList moved(std::move(lists[i]));
        DOCTEST_CHECK(lists[i].empty());  // NOLINT(bugprone-use-after-move)
        DOCTEST_CHECK(read(moved) == expected[i]);
    }
}

DOCTEST_TEST_CASE("tokenizer/thread_team: every member works in every round") {
    for (const std::size_t members : {1U, 2U, 5U}) {
        ThreadTeam team(members);
        std::vector<int> rounds(members);
        for (int round = 0; round < 200; ++round)
            team.run([&](std::size_t member) { ++rounds[member]; });
        team.run_alone([&](std::size_t member) { ++rounds[member]; });
        DOCTEST_CHECK(rounds == std::vector<int>(members, 201));
    }
}

DOCTEST_TEST_CASE("tokenizer/thread_team: members that fell asleep wake up, for work and to go home") {
    for (int repetition = 0; repetition < 3; ++repetition) {
        ThreadTeam team(3);
        std::atomic<int> done{0};
        for (int round = 0; round < 3; ++round) {
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            team.run([&](std::size_t member) {
                if (member == 1) std::this_thread::sleep_for(std::chrono::milliseconds(5));
                ++done;
            });
            DOCTEST_CHECK(done == 3 * (round + 1));
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
}

DOCTEST_TEST_CASE("tokenizer/thread_team: where all fail one exception comes out, once") {
    ThreadTeam team(3);
    DOCTEST_CHECK_THROWS_AS(team.run([](std::size_t) { throw std::runtime_error("no"); }),
                            std::runtime_error);
    DOCTEST_CHECK_NOTHROW(team.run([](std::size_t) {}));
    int calls = 0;
    DOCTEST_CHECK_THROWS_AS(team.run_alone([&](std::size_t member) {
        ++calls;
        if (member == 1) throw std::runtime_error("no");
    }),
                            std::runtime_error);
    DOCTEST_CHECK(calls == 2);
}

DOCTEST_TEST_CASE("tokenizer/token_array: growth over many huge pages keeps every stretch") {
    LetterArray array;
    std::vector<std::uint8_t> stretch(99'999);
    for (std::size_t round = 0; round < 60; ++round) {  // six million positions, three pages
        for (std::size_t i = 0; i < stretch.size(); ++i)
            stretch[i] = static_cast<std::uint8_t>((i * 7 + round) % 4);
        array.append(stretch.data(), stretch.size());
    }
    DOCTEST_REQUIRE(array.size() == 6'000'001);
    std::size_t wrong = 0;
    for (std::size_t round = 0; round < 60; ++round) {
        for (std::size_t i = 0; i < stretch.size(); ++i)
            wrong += array.data()[1 + round * 100'000 + i] != (i * 7 + round) % 4;
        wrong += array.data()[(round + 1) * 100'000] != LetterArray::separator;
    }
    DOCTEST_CHECK(wrong == 0);
}

DOCTEST_TEST_CASE("tokenizer/token_array: memory goes to an array of another kind where it suffices") {
    LetterArray letters(std::size_t{3} << 20);
    const void* const memory = letters.data();
    letters.data()[2] = 0x34;
    letters.data()[3] = 0x12;
    TokenArray tokens = std::move(letters).turn_into<Symbol>(100);
    DOCTEST_CHECK(tokens.data() == memory);
    DOCTEST_CHECK(tokens.size() == 100);
    DOCTEST_CHECK(tokens.data()[1] == 0x1234);
    LetterArray small(10);  // a page of two million bytes
    DOCTEST_CHECK_THROWS_AS(std::move(small).turn_into<Symbol>((std::size_t{1} << 20) + 1), std::logic_error);
}

namespace {

constexpr std::uint8_t A = 0, C = 1, G = 2, T = 3;

struct Scene {
    explicit Scene(const std::vector<std::string>& stretches, std::size_t target_chunk = 1) : team(2) {
        for (const std::string& stretch : stretches)
            append_letters(letters, stretch);
        tokens.emplace_back(letters, target_chunk);
    }
    std::string text() const {
        std::string text;
        for (const PackedTokens::Chunk& chunk : tokens[0].chunks()) {
            for (std::size_t i = 0; i < chunk.size; ++i) {
                const std::uint8_t symbol = tokens[0].data(chunk)[i];
                text += symbol == LetterArray::separator ? "|" : std::to_string(symbol);
            }
        }
        return text;
    }
    LetterArray letters;
    ThreadTeam team;
    std::vector<PackedTokens> tokens;
};

}  // namespace

DOCTEST_TEST_CASE("tokenizer/packed_tokens: symbols become wider in their own memory where they fit") {
    for (const bool fits : {false, true}) {
        std::string stretch;
        while (stretch.size() < 30'000)
            stretch += fits ? "ACACACGT" : "ACGTGTGT";
        Scene scene({stretch, stretch, stretch});
        scene.tokens[0].merge(std::vector<PackedRule>{{A, C, 5}}, scene.team);
        scene.tokens[0].merge_runs(5, 6, {}, scene.team);
        scene.tokens[0].merge(std::vector<PackedRule>{{6, 5, 7}}, scene.team);
        const std::uint8_t* const memory = scene.letters.data();
        const TokenArray positions = std::move(scene.tokens[0]).unpack(std::move(scene.letters));
        DOCTEST_CHECK((static_cast<const void*>(positions.data()) == memory) == fits);
        const std::vector<Symbol> pattern =
            fits ? std::vector<Symbol>{7, G, T} : std::vector<Symbol>{5, G, T, G, T, G, T};
        std::size_t wrong = 0, position = 0;
        for (int i = 0; i < 3; ++i) {
            wrong += positions.data()[position++] != TokenArray::separator;
            for (std::size_t k = 0; k < 3'750 * pattern.size(); ++k)
                wrong += positions.data()[position++] != pattern[k % pattern.size()];
        }
        DOCTEST_CHECK(position + 1 == positions.size());
        DOCTEST_CHECK(wrong == 0);
    }
}

namespace {

using Plain = std::vector<std::vector<std::uint8_t>>;  // stretches

Plain numbers_of(const std::vector<std::string>& stretches) {
    Plain plain;
    for (const std::string& stretch : stretches) {
        auto& numbers = plain.emplace_back();
        for (const char letter : stretch)
            numbers.push_back(static_cast<std::uint8_t>(symbol_of_letter(letter)));
    }
    return plain;
}

std::string text_of(const Plain& plain) {
    std::string text;
    for (const auto& stretch : plain) {
        for (const std::uint8_t symbol : stretch)
            text += std::to_string(symbol);
        text += "|";
    }
    return text;
}

std::uint64_t merge_plainly(Plain& plain, const std::vector<PackedRule>& rules) {
    std::uint64_t merged = 0;
    for (auto& stretch : plain) {
        for (std::size_t i = 0; i + 1 < stretch.size(); ++i) {
            for (const PackedRule& rule : rules) {
                if (stretch[i] == rule.left && stretch[i + 1] == rule.right) {
                    stretch[i] = rule.merged;
                    stretch.erase(stretch.begin() + static_cast<std::ptrdiff_t>(i) + 1);
                    ++merged;
                    break;
                }
            }
        }
    }
    return merged;
}

}  // namespace

DOCTEST_TEST_CASE("tokenizer/packed_tokens: real sequence is merged as one by one, whatever the chunks") {
    std::vector<std::string> stretches = real_sentences();
    stretches.resize(30);
    for (const std::size_t chunk : {1U, 5000U, 1'000'000U}) {
        Scene scene(stretches, chunk);
        PackedTokens& tokens = scene.tokens[0];
        Plain plain = numbers_of(stretches);
        const auto pairs = tokens.count_letter_pairs(scene.team);
        std::array<std::uint64_t, 25> expected{};
        for (const auto& stretch : plain)
            for (std::size_t i = 0; i + 1 < stretch.size(); ++i)
                ++expected[stretch[i] * std::size_t{5} + stretch[i + 1]];
        DOCTEST_CHECK(pairs == expected);
        const std::vector<std::vector<PackedRule>> sweeps{
            {{A, C, 5}, {A, G, 6}}, {{T, G, 7}}, {{5, 7, 8}, {6, 7, 9}, {C, 7, 10}}, {{5, 8, 11}}};
        std::size_t total = tokens.size();
        for (const auto& rules : sweeps) {
            const PackedNeighbours found = tokens.merge(rules, scene.team);
            DOCTEST_CHECK(found.merged == merge_plainly(plain, rules));
            total -= found.merged;
            DOCTEST_CHECK(tokens.size() == total);
            DOCTEST_CHECK(scene.text() == text_of(plain));
            for (std::size_t rule = 0; rule < rules.size(); ++rule) {
                std::array<std::uint64_t, 256> left{}, right{};
                for (const auto& stretch : plain) {
                    for (std::size_t i = 0; i < stretch.size(); ++i) {
                        if (stretch[i] == rules[rule].merged) {
                            ++left[i == 0 ? LetterArray::separator : stretch[i - 1]];
                            ++right[i + 1 == stretch.size() ? LetterArray::separator : stretch[i + 1]];
                        }
                    }
                }
                DOCTEST_CHECK(found.left[rule] == left);
                DOCTEST_CHECK(found.right[rule] == right);
            }
        }
    }
}

#define HWY_WANT_AVX3_DL  // as the kernels do
#include "support/vector_units.hpp"

#include <algorithm>
#include <functional>

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
Merged merge_one_by_one(const Symbols& symbols, const std::function<const PackedRule*(std::size_t)>& rule) {
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
            const Merged expected = merge_one_by_one(before, [&](std::size_t i) {
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
            const Merged expected = merge_one_by_one(
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
