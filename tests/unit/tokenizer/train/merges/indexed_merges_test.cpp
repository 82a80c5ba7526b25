// SPDX-License-Identifier: Apache-2.0
// Whole trainings by lists of positions are compared in exact_trainer_test.
#include "bigbird/tokenizer/train/merges/indexed_merges.hpp"

#include "support/testing.hpp"
#include "unit/tokenizer/train/merges/merge_scene.hpp"

#include <string>
#include <utility>
#include <vector>

using namespace bigbird::tokenizer;

namespace {

using Pieces = std::vector<std::pair<std::string, std::uint64_t>>;

Pieces learn(const std::vector<std::string>& stretches, const LearnSpec& spec) {
    bigbird::testing::MergeScene scene(stretches, spec);
    IndexedMerges later(scene.first, scene.tokens, std::move(scene.letters), scene.symbols, spec, scene.team);
    later.run([] {});
    Pieces pieces;
    for (const LearntPiece& piece : scene.symbols.pieces) {
        pieces.emplace_back(piece.text, piece.frequency);
    }
    return pieces;
}

}  // namespace

DOCTEST_TEST_CASE("tokenizer/indexed_merges: pieces in order with their frequencies, until no pair is left") {
    const Pieces expected{{"AC", 2}, {"ACG", 2}, {"ACGT", 1}};
    DOCTEST_CHECK(learn({"ACGT", "ACG"}, {.merges = 100, .most_sweeps = 0}) == expected);
    DOCTEST_CHECK(learn({"ACGT", "ACG"}, {.merges = 100}) == expected);
    DOCTEST_CHECK(learn({"ACGT", "ACG"}, {.merges = 2, .most_sweeps = 0}) ==
                  Pieces(expected.begin(), expected.begin() + 2));
}

DOCTEST_TEST_CASE("tokenizer/indexed_merges: runs of one base, by either way of counting") {
    const std::vector<std::string> run{"AAAAAAAA"};
    DOCTEST_CHECK(learn(run, {.merges = 9, .most_sweeps = 0}) ==
                  Pieces{{"AA", 7}, {"AAAA", 3}, {"AAAAAAAA", 1}});
    DOCTEST_CHECK(learn(run, {.merges = 9, .counting = OverlapCounting::alternate, .most_sweeps = 0}) ==
                  Pieces{{"AA", 4}, {"AAAA", 2}, {"AAAAAAAA", 1}});
}
