// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/train/training_corpus.hpp"

#include "support/testing.hpp"

#include "bigbird/core/rng.hpp"

#include <set>
#include <string>
#include <vector>

using namespace bigbird::tokenizer;

namespace {

std::vector<std::string> stretches_of(const TrainingCorpus& corpus) {
    std::vector<std::string> stretches;
    for (StretchReader reader(corpus.positions()); !reader.done(); reader.next()) {
        stretches.push_back(reader.stretch());
    }
    return stretches;
}

}  // namespace

DOCTEST_TEST_CASE("training_corpus: sentences are normalised and cut at N and at 30,000 bases") {
    TrainingCorpus corpus(0);
    corpus.add("nnAcguNNRTTN");
    corpus.add("NNN");
    corpus.add(std::string(60'001, 'G'));
    DOCTEST_CHECK(corpus.seen() == 3);
    DOCTEST_CHECK(corpus.sentences() == 3);
    DOCTEST_CHECK(corpus.bases() == 6 + 60'001);
    DOCTEST_CHECK(corpus.count(symbol_of_letter('T')) == 3);
    corpus.add_missing_letters();
    const std::vector<std::string> expected{"ACGT", "TT", std::string(30'000, 'G'), std::string(30'000, 'G'),
                                            "G",    "N"};
    DOCTEST_CHECK(stretches_of(corpus) == expected);
}

DOCTEST_TEST_CASE("training_corpus: a limit keeps a seeded sample in order") {
    bigbird::Rng rng(1);
    std::vector<std::string> sentences;
    for (int i = 0; i < 2000; ++i) {
        std::string& sentence = sentences.emplace_back("A");
        while (sentence.size() < 100) {
            sentence += "ACGT"[rng.between(0, 3)];
        }
    }
    const auto sample = [&](std::uint64_t seed, std::size_t most) {
        TrainingCorpus corpus(seed, most);
        for (const std::string& sentence : sentences) {
            corpus.add(sentence);
        }
        DOCTEST_CHECK(corpus.positions().size() <= most);
        DOCTEST_CHECK(corpus.sentences() * 100 == corpus.bases());
        std::int64_t letters = 0;
        for (Symbol letter = 0; letter < 4; ++letter) {
            letters += corpus.count(letter);
        }
        DOCTEST_CHECK(letters == corpus.bases());
        return stretches_of(corpus);
    };
    const auto some = sample(7, 60'000);
    DOCTEST_CHECK(some.size() > 350);
    DOCTEST_CHECK(some.size() < 595);
    DOCTEST_CHECK(sample(7, 60'000) == some);
    DOCTEST_CHECK(sample(8, 60'000) != some);
    std::size_t next = 0;
    for (const std::string& sentence : sentences) {
        next += next < some.size() && some[next] == sentence;
    }
    DOCTEST_CHECK(next == some.size());
    DOCTEST_CHECK(sample(7, 1'000'000) == sentences);
}
