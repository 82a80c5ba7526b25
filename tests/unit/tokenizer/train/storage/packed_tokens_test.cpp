// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/train/storage/packed_tokens.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include <array>
#include <sstream>
#include <string>
#include <vector>

using namespace bigbird::tokenizer;

namespace {

constexpr std::uint8_t A = 0, C = 1, G = 2, T = 3;

struct Scene {
    explicit Scene(const std::vector<std::string>& stretches, std::size_t target_chunk = 1) : team(2) {
        for (const std::string& stretch : stretches) {
            letters.append(stretch);
        }
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
    ShardTeam team;
    std::vector<PackedTokens> tokens;
};

}  // namespace

DOCTEST_TEST_CASE("tokenizer/packed_tokens: several pairs at once, and what stands beside them") {
    for (const std::size_t chunk : {1U, 1000U}) {
        Scene scene({"ACAGTACT", "TAC", "AG", ""}, chunk);
        DOCTEST_CHECK(scene.tokens[0].chunks().size() == (chunk == 1 ? 4 : 1));
        const auto pairs = scene.tokens[0].count_letter_pairs(scene.team);
        DOCTEST_CHECK(pairs[A * 5 + C] == 3);
        DOCTEST_CHECK(pairs[A * 5 + G] == 2);
        DOCTEST_CHECK(pairs[T * 5 + T] == 0);
        const std::vector<PackedRule> rules{{A, C, 5}, {A, G, 6}};
        const PackedNeighbours beside = scene.tokens[0].merge(rules, scene.team);
        DOCTEST_CHECK(scene.text() == "56353|35|6||");
        DOCTEST_CHECK(beside.merged == 5);
        DOCTEST_CHECK(beside.left[0][T] == 2);
        DOCTEST_CHECK(beside.left[1][5] == 1);
        DOCTEST_CHECK(beside.right[0][6] == 1);
        DOCTEST_CHECK(beside.right[0][T] == 1);
        DOCTEST_CHECK(beside.right[1][T] == 1);
        DOCTEST_CHECK(beside.right[0][C] == 0);
        DOCTEST_CHECK(scene.tokens[0].size() == 12);
    }
}

DOCTEST_TEST_CASE("tokenizer/packed_tokens: runs are merged from the left, or from their second occurrence") {
    const std::vector<std::string> stretches{"AAAAA", "CAAAGAA", "CAACAAAA"};
    OddRuns odd{};
    Scene even(stretches);
    DOCTEST_CHECK(even.tokens[0].count_runs(A, odd, even.team) == 2 + 1 + 1 + 1 + 2);
    DOCTEST_CHECK(even.tokens[0].merge_runs(A, 5, odd, even.team).merged == 7);
    DOCTEST_CHECK(even.text() == "550|15025|15155|");
    odd[C] = true;
    Scene shifted(stretches);
    DOCTEST_CHECK(shifted.tokens[0].count_runs(A, odd, shifted.team) == 2 + 1 + 1 + 0 + 1);
    const PackedNeighbours beside = shifted.tokens[0].merge_runs(A, 5, odd, shifted.team);
    DOCTEST_CHECK(shifted.text() == "550|10525|1001050|");
    DOCTEST_CHECK(beside.left[0][5] == 1);
    DOCTEST_CHECK(beside.left[0][A] == 2);
    DOCTEST_CHECK(beside.right[0][A] == 2);
    DOCTEST_CHECK(beside.right[0][5] == 1);
}

DOCTEST_TEST_CASE("tokenizer/packed_tokens: positions") {
    Scene scene({"ACAGTACT", "TACAA"});
    scene.tokens[0].merge(std::vector<PackedRule>{{A, C, 5}}, scene.team);
    scene.tokens[0].merge(std::vector<PackedRule>{{T, 5, 6}}, scene.team);
    DOCTEST_CHECK(scene.text() == "50263|600|");
    ListMemory memory;
    PositionList behind_g(memory), merged_a(memory), runs(memory);
    PackedLists lists(7);
    lists.set(G, 6, &behind_g);
    lists.set(6, A, &merged_a);
    lists.set(A, A, &runs);
    scene.tokens[0].list_pairs(scene.tokens[0].chunks(), lists);
    const auto read = [&](const PositionList& list) {
        std::vector<std::uint64_t> found;
        for_each_position(list, scene.letters.data() + 1, 2,
                          [&](std::uint64_t position) { found.push_back(position); });
        return found;
    };
    DOCTEST_CHECK(read(behind_g) == std::vector<std::uint64_t>{2});
    DOCTEST_CHECK(read(merged_a) == std::vector<std::uint64_t>{6});
    DOCTEST_CHECK(read(runs) == std::vector<std::uint64_t>{7});
    const TokenArray positions = std::move(scene.tokens[0]).unpack(std::move(scene.letters));
    constexpr Symbol end = TokenArray::separator;
    DOCTEST_CHECK(std::vector<Symbol>(positions.data(), positions.data() + positions.size()) ==
                  std::vector<Symbol>{end, 5, 0, 2, 6, 3, end, 6, 0, 0, end});
}

DOCTEST_TEST_CASE("tokenizer/packed_tokens: symbols become wider in their own memory where they fit") {
    for (const bool fits : {false, true}) {
        std::string stretch;
        while (stretch.size() < 30'000) {
            stretch += fits ? "ACACACGT" : "ACGTGTGT";
        }
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
            for (std::size_t k = 0; k < 3'750 * pattern.size(); ++k) {
                wrong += positions.data()[position++] != pattern[k % pattern.size()];
            }
        }
        DOCTEST_CHECK(position + 1 == positions.size());
        DOCTEST_CHECK(wrong == 0);
    }
}

DOCTEST_TEST_CASE(
    "tokenizer/packed_tokens: of runs every other pair is listed, from the one that was first") {
    Scene scene({"AAAAA", "CAAAA", "GAAA"});
    OddRuns odd{};
    odd[C] = true;
    ListMemory memory;
    PositionList runs(memory);
    PackedLists lists(5);
    lists.set(A, A, &runs);
    lists.thin(A, odd);
    scene.tokens[0].list_pairs(scene.tokens[0].chunks(), lists);
    std::vector<std::uint64_t> found;
    for_each_position(runs, scene.letters.data() + 1, 2,
                      [&](std::uint64_t position) { found.push_back(position); });
    DOCTEST_CHECK(found == std::vector<std::uint64_t>{0, 2, 8, 13});
}

namespace {

using Plain = std::vector<std::vector<std::uint8_t>>;  // stretches

Plain numbers_of(const std::vector<std::string>& stretches) {
    Plain plain;
    for (const std::string& stretch : stretches) {
        auto& numbers = plain.emplace_back();
        for (const char letter : stretch) {
            numbers.push_back(static_cast<std::uint8_t>(symbol_of_letter(letter)));
        }
    }
    return plain;
}

std::string text_of(const Plain& plain) {
    std::string text;
    for (const auto& stretch : plain) {
        for (const std::uint8_t symbol : stretch) {
            text += std::to_string(symbol);
        }
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

std::vector<std::string> real_stretches() {
    std::vector<std::string> stretches;
    std::istringstream lines(
        bigbird::testing::read_file(bigbird::testing::test_data("tokenizer/sentences.txt")));
    for (std::string line; std::getline(lines, line) && stretches.size() < 30;) {
        stretches.push_back(line);
    }
    return stretches;
}

}  // namespace

DOCTEST_TEST_CASE("tokenizer/packed_tokens: real sequence is merged as one by one, whatever the chunks") {
    const std::vector<std::string> stretches = real_stretches();
    for (const std::size_t chunk : {1U, 5000U, 1'000'000U}) {
        Scene scene(stretches, chunk);
        PackedTokens& tokens = scene.tokens[0];
        Plain plain = numbers_of(stretches);
        const auto pairs = tokens.count_letter_pairs(scene.team);
        std::array<std::uint64_t, 25> expected{};
        for (const auto& stretch : plain) {
            for (std::size_t i = 0; i + 1 < stretch.size(); ++i) {
                ++expected[stretch[i] * std::size_t{5} + stretch[i + 1]];
            }
        }
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
