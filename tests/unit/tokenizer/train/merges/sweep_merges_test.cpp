// SPDX-License-Identifier: Apache-2.0
// Whole trainings by sweeps are compared in exact_trainer_test.
#include "bigbird/tokenizer/train/merges/sweep_merges.hpp"

#include "support/testing.hpp"
#include "unit/tokenizer/train/merges/merge_scene.hpp"

#include <map>
#include <string>
#include <vector>

using namespace bigbird::tokenizer;

namespace {

struct Merged {
    std::map<std::string, std::uint64_t> pieces, left;  // made, with their frequency; and pairs that are left
};

Merged merge(const std::vector<std::string>& stretches, const LearnSpec& spec) {
    const bigbird::testing::MergeScene scene(stretches, spec);
    const auto& texts = scene.symbols.texts;
    Merged merged;
    for (const LearntPiece& piece : scene.symbols.pieces) {
        merged.pieces[piece.text] = piece.frequency;
    }
    for (const CountedPair& pair : scene.first.pairs()) {
        merged.left[texts[pair.left] + " " + texts[pair.right]] = pair.count;
    }
    return merged;
}

using Counts = std::map<std::string, std::uint64_t>;

}  // namespace

DOCTEST_TEST_CASE("tokenizer/sweep_merges: the most frequent pair, and what stands beside it then") {
    const Merged merged = merge({"ACAC", "ACGT"}, {.merges = 1});
    DOCTEST_CHECK(merged.pieces == Counts{{"AC", 3}});
    DOCTEST_CHECK(merged.left == Counts{{"AC AC", 1}, {"AC G", 1}, {"G T", 1}});
}

DOCTEST_TEST_CASE("tokenizer/sweep_merges: runs of one base, by either way of counting") {
    Merged every = merge({"AAAAA"}, {.merges = 1});
    DOCTEST_CHECK(every.pieces == Counts{{"AA", 4}});
    every.left.erase("A A");  // is a piece already, so that its count no longer matters
    DOCTEST_CHECK(every.left == Counts{{"AA A", 1}, {"AA AA", 1}});
    DOCTEST_CHECK(merge({"AAAAA"}, {.merges = 1, .counting = OverlapCounting::alternate}).pieces ==
                  Counts{{"AA", 2}});
}

DOCTEST_TEST_CASE("tokenizer/sweep_merges: neither longer pieces than asked for nor sweeps where none are") {
    DOCTEST_CHECK(merge({"ACACACAC"}, {.merges = 9, .max_piece_length = 2}).pieces == Counts{{"AC", 4}});
    DOCTEST_CHECK(merge({"ACACACAC"}, {.merges = 9, .most_sweeps = 0}).pieces.empty());
}
