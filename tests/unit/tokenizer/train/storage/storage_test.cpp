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
#include <cstring>
#include <set>
#include <sstream>
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
    for_each_position(list, memory.data(), 1, [&](std::uint64_t at) { found.push_back(at); });
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
            letters.append(stretch);
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
