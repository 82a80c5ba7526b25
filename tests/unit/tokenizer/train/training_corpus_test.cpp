// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/train/training_corpus.hpp"

#include "support/testing.hpp"

#include "bigbird/core/nucleotide.hpp"
#include "bigbird/core/rng.hpp"

#include <cstdint>
#include <map>
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

DOCTEST_TEST_CASE("training_corpus: every byte is the letter that normalised_base makes of it") {
    for (int byte = 0; byte < 256; ++byte) {
        TrainingCorpus corpus(0);
        const auto letter = static_cast<char>(byte);
        corpus.add("AC" + std::string(1, letter) + "G");
        const char base = bigbird::normalised_base(letter);
        const std::vector<std::string> expected =
            base == 'N' ? std::vector<std::string>{"AC", "G"}
                        : std::vector<std::string>{"AC" + std::string(1, base) + "G"};
        DOCTEST_CAPTURE(byte);
        DOCTEST_CHECK(stretches_of(corpus) == expected);
        DOCTEST_CHECK(corpus.bases() == (base == 'N' ? 3 : 4));
    }
}

DOCTEST_TEST_CASE("training_corpus: letters are counted whatever the length of the sentences") {
    bigbird::Rng rng(2);
    TrainingCorpus corpus(0);
    std::map<char, std::int64_t> counts;
    for (const std::size_t size :
         {0U, 1U, 254U, 255U, 256U, 510U, 511U, 29'999U, 30'000U, 30'001U, 60'000U}) {
        std::string sentence;
        while (sentence.size() < size) {
            const char base = "ACGT"[rng.between(0, 3)];
            sentence += base;
            ++counts[base];
        }
        corpus.add(sentence);
    }
    for (const char base : std::string("ACGT")) {
        DOCTEST_CHECK(corpus.count(symbol_of_letter(base)) == counts[base]);
    }
    std::vector<std::size_t> sizes;
    for (const std::string& stretch : stretches_of(corpus)) {
        sizes.push_back(stretch.size());
    }
    DOCTEST_CHECK(sizes == std::vector<std::size_t>{1, 254, 255, 256, 510, 511, 29'999, 30'000, 30'000, 1,
                                                    30'000, 30'000});
}

DOCTEST_TEST_CASE("training_corpus: missing letters are added once, and none that is there") {
    TrainingCorpus corpus(0);
    corpus.add("AATT");
    corpus.add_missing_letters();
    corpus.add_missing_letters();
    DOCTEST_CHECK(stretches_of(corpus) == std::vector<std::string>{"AATT", "C", "G", "N"});
    TrainingCorpus empty(0);
    DOCTEST_CHECK(stretches_of(empty).empty());
    DOCTEST_CHECK(StretchReader(empty.positions()).done());
    empty.add_missing_letters();
    DOCTEST_CHECK(stretches_of(empty) == std::vector<std::string>{"A", "C", "G", "T", "N"});
}

DOCTEST_TEST_CASE("training_corpus: one sentence is kept, however small the limit") {
    TrainingCorpus corpus(3, 100);
    corpus.add(std::string(500, 'A'));
    DOCTEST_CHECK(corpus.sentences() == 1);
    DOCTEST_CHECK(corpus.bases() == 500);
    for (int i = 0; i < 50; ++i) {
        corpus.add(std::string(40, 'C'));
    }
    DOCTEST_CHECK(corpus.seen() == 51);
    DOCTEST_CHECK(corpus.sentences() <= 2);
}
