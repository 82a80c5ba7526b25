// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/train/exact_trainer.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/rng.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <sstream>
#include <tuple>

using namespace bigbird::tokenizer;
using bigbird::testing::read_file;
using bigbird::testing::test_data;

namespace {

std::vector<std::string> learn(const std::vector<std::string>& stretches, const LearnSpec& spec) {
    LetterArray corpus;
    for (const std::string& stretch : stretches) {
        corpus.append(stretch);
    }
    std::vector<std::string> texts;
    for (const LearntPiece& piece : learn_pieces(corpus, spec, [](std::int64_t, double) {}).pieces) {
        texts.push_back(piece.text);
    }
    return texts;
}

// The definition: count every pair anew in each round, as SentencePiece from 0.1.99 on does.
std::vector<std::string> learn_plainly(const std::vector<std::string>& stretches, const LearnSpec& spec) {
    using Pair = std::pair<std::string,
                           std::string>;  // symbols have distinct texts, since duplicates are never merged
    std::vector<std::vector<std::string>> corpus;
    for (const std::string& stretch : stretches) {
        auto& tokens = corpus.emplace_back();
        for (const char letter : stretch) {
            tokens.emplace_back(1, letter);
        }
    }
    std::vector<std::string> learnt;
    while (static_cast<std::int64_t>(learnt.size()) < spec.merges) {
        std::map<Pair, std::int64_t> counts;
        for (const auto& tokens : corpus) {
            for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
                ++counts[{tokens[i], tokens[i + 1]}];
            }
        }
        using Rank = std::tuple<std::int64_t, std::size_t, std::string>;
        std::optional<std::pair<Rank, Pair>> best;
        for (const auto& [pair, count] : counts) {
            const std::string text = pair.first + pair.second;
            const Rank rank(-count, text.size(), text);
            const bool known = std::find(learnt.begin(), learnt.end(), text) != learnt.end();
            if (!known && text.size() <= static_cast<std::size_t>(spec.max_piece_length) &&
                (!best || rank < best->first)) {
                best = {rank, pair};
            }
        }
        if (!best) {
            break;
        }
        const auto [left, right] = best->second;
        learnt.push_back(left + right);
        for (auto& tokens : corpus) {
            for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
                if (tokens[i] == left && tokens[i + 1] == right) {
                    tokens[i] += right;
                    tokens.erase(tokens.begin() + static_cast<std::ptrdiff_t>(i) + 1);
                }
            }
        }
    }
    return learnt;
}

std::vector<std::string> random_stretches(bigbird::Rng& rng, const std::string& letters, int count) {
    std::vector<std::string> stretches;
    for (int i = 0; i < count; ++i) {
        std::string& stretch = stretches.emplace_back();
        while (stretch.size() < 300) {
            const char letter = letters[static_cast<std::size_t>(
                rng.between(0, static_cast<std::int64_t>(letters.size()) - 1))];
            stretch.append(static_cast<std::size_t>(rng.uniform() < 0.1 ? rng.between(2, 40) : 1), letter);
        }
    }
    return stretches;
}

std::vector<std::string> real_sentences() {
    std::vector<std::string> sentences;
    std::istringstream lines(read_file(test_data("tokenizer/sentences.txt")));
    for (std::string line; std::getline(lines, line);) {
        sentences.push_back(line);
    }
    return sentences;
}

}  // namespace

// Frequencies that tie between two splits of one text may be told apart by age in one and not in the other,
// so the count of pieces stays where frequencies are well above 1.
DOCTEST_TEST_CASE("tokenizer/exact_trainer: the pieces that plain counting gives") {
    bigbird::Rng rng(11);
    for (const std::string letters : {"ACGT", "AT", "AAAAC", "ACGTN"}) {
        const auto stretches = random_stretches(rng, letters, 30);
        for (const std::int32_t limit : {3, 16, 64}) {
            const LearnSpec spec{.merges = 150, .max_piece_length = limit};
            const auto plain = learn_plainly(stretches, spec);
            for (const std::int32_t sweeps : {0, 100, 200}) {
                LearnSpec swept = spec;
                swept.most_sweeps = sweeps;
                DOCTEST_CHECK(learn(stretches, swept) == plain);
            }
        }
    }
}

DOCTEST_TEST_CASE("tokenizer/exact_trainer: sweeps and lists of positions make the same pieces") {
    bigbird::Rng rng(12);
    for (const std::string letters : {"ACGT", "AT", "AAAAC", "ACGTN", "A"}) {
        const auto stretches = random_stretches(rng, letters, 200);
        for (const OverlapCounting counting : {OverlapCounting::every, OverlapCounting::alternate}) {
            const auto by = [&](std::int32_t sweeps) {
                return learn(stretches, {.merges = 250,
                                         .max_piece_length = 64,
                                         .counting = counting,
                                         .threads = 2,
                                         .most_sweeps = sweeps});
            };
            const auto by_lists = by(0);
            DOCTEST_CHECK(by(100) == by_lists);
            DOCTEST_CHECK(by(200) == by_lists);
        }
    }
}

DOCTEST_TEST_CASE("tokenizer/exact_trainer: the threads change nothing") {
    const auto sentences = real_sentences();
    for (const OverlapCounting counting : {OverlapCounting::every, OverlapCounting::alternate}) {
        const auto one = learn(sentences, {.merges = 600, .counting = counting});
        DOCTEST_CHECK(one.size() == 600);
        for (const int threads : {2, 5}) {
            DOCTEST_CHECK(learn(sentences, {.merges = 600, .counting = counting, .threads = threads}) == one);
        }
        for (const std::int32_t sweeps : {0, 100}) {
            DOCTEST_CHECK(learn(sentences, {.merges = 600, .counting = counting, .most_sweeps = sweeps}) ==
                          one);
        }
    }
}

DOCTEST_TEST_CASE("tokenizer/exact_trainer: the pieces of SentencePiece 0.1.97 and 0.2.3, in order") {
    const auto sentences = real_sentences();
    const auto expected = [](const char* file) {
        std::vector<std::string> pieces;
        std::istringstream lines(read_file(test_data(std::string("tokenizer/") + file)));
        for (std::string piece, score; lines >> piece >> score;) {
            if (piece.size() > 1 && piece[0] != '[') {
                pieces.push_back(piece);
            }
        }
        return pieces;
    };
    const auto old = expected("small.vocab"), recent = expected("small_0.2.3.vocab");
    DOCTEST_CHECK(old != recent);
    DOCTEST_CHECK(learn(sentences, {.merges = 502, .counting = OverlapCounting::alternate}) == old);
    DOCTEST_CHECK(learn(sentences, {.merges = 1990, .counting = OverlapCounting::every}) == recent);
}

DOCTEST_TEST_CASE("tokenizer/exact_trainer: ends where no pair is left") {
    DOCTEST_CHECK(learn({"ACGT", "T"}, {.merges = 100}) == std::vector<std::string>{"AC", "GT", "ACGT"});
    DOCTEST_CHECK(learn({"AAAA"}, {.merges = 100, .max_piece_length = 2}) == std::vector<std::string>{"AA"});
    DOCTEST_CHECK(learn({"A", "C"}, {.merges = 100}).empty());
    DOCTEST_CHECK(learn({}, {.merges = 100, .threads = 4}).empty());
}

DOCTEST_TEST_CASE("tokenizer/exact_trainer: an exception of `advance` ends it") {
    LetterArray corpus;
    for (const std::string& sentence : real_sentences()) {
        corpus.append(sentence);
    }
    DOCTEST_CHECK_THROWS_AS(learn_pieces(corpus, {.merges = 500, .threads = 2},
                                         [](std::int64_t, double) { throw std::runtime_error("stop"); }),
                            std::runtime_error);
}

DOCTEST_TEST_CASE("tokenizer/exact_trainer: says where rare pairs leave the choice to chance") {
    const auto certain = [](std::int64_t merges, bool only_certain) {
        LetterArray corpus;
        for (const std::string& sentence : real_sentences()) {
            corpus.append(sentence);
        }
        const std::vector<std::uint8_t> letters(corpus.data(), corpus.data() + corpus.size());
        const LearnSpec spec{.merges = merges, .only_certain = only_certain};
        const LearntPieces learnt = learn_pieces(corpus, spec, [](std::int64_t, double) {});
        const bool restored =
            corpus.size() == letters.size() && std::equal(letters.begin(), letters.end(), corpus.data());
        DOCTEST_CHECK(restored == (only_certain && !learnt.certain));
        const auto count = static_cast<std::int64_t>(learnt.pieces.size());
        DOCTEST_CHECK((count == merges || (only_certain && !learnt.certain && count > 1000)));
        return learnt.certain;
    };
    DOCTEST_CHECK(certain(1000, true));
    DOCTEST_CHECK_FALSE(certain(8000, true));
    DOCTEST_CHECK_FALSE(certain(8000, false));
}

DOCTEST_TEST_CASE("tokenizer/exact_trainer: the share of the work rises to one") {
    LetterArray corpus;
    for (const std::string& sentence : real_sentences()) {
        corpus.append(sentence);
    }
    double last = 0;
    std::int64_t pieces = 0;
    learn_pieces(corpus, {.merges = 300}, [&](std::int64_t done, double share) {
        DOCTEST_CHECK(done == ++pieces);
        DOCTEST_CHECK(share > 0);
        last = share;
    });
    DOCTEST_CHECK(pieces == 300);
    DOCTEST_CHECK(last == doctest::Approx(1));
}
