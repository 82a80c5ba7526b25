// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/train/train.hpp"

#include "support/captured_log.hpp"
#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/tokenizer/tokenizer.hpp"
#include "bigbird/tokenizer/train/sentencepiece_trainer.hpp"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <sstream>

using namespace bigbird;
using namespace bigbird::testing;
using tokenizer::DnaTokenizer;
using tokenizer::OverlapCounting;
using tokenizer::TrainEngine;
using tokenizer::TrainSpec;

namespace {

tokenizer::TrainReport train_tokenizer(const TrainSpec& spec, const std::vector<std::string>& sentences,
                                       const std::filesystem::path& target,
                                       Overwrite overwrite = Overwrite::refuse) {
    tokenizer::TokenizerTrainer trainer(spec, target, overwrite);
    for (const std::string& sentence : sentences) {
        trainer.add(sentence);
    }
    return trainer.finish();
}

std::vector<std::string> real_sentences() {
    std::vector<std::string> sentences;
    std::istringstream lines(read_file(test_data("tokenizer/sentences.txt")));
    for (std::string line; std::getline(lines, line);) {
        sentences.push_back(line);
    }
    return sentences;
}

std::string vocabulary_after(const TrainSpec& spec, std::vector<std::string> sentences) {
    const TempDir folder;
    train_tokenizer(spec, sentences, folder / "t.model");
    return read_file(folder / "t.vocab");
}

}  // namespace

DOCTEST_TEST_CASE("train: the pieces and scores that Python's sentencepiece trains") {
    const TempDir folder;
    const auto report = train_tokenizer({.vocab_size = 512}, real_sentences(), folder / "t.model");
    DOCTEST_CHECK(read_file(folder / "t.vocab") == read_file(test_data("tokenizer/small.vocab")));
    DOCTEST_CHECK(report.sentences == 143);
    DOCTEST_CHECK(report.bases == 100'000);
    DOCTEST_CHECK(report.measured_bases == 100'000);
    DOCTEST_CHECK(report.vocab_size == 512);
    DOCTEST_CHECK(report.bases_per_token() == doctest::Approx(4.3).epsilon(0.1));
    const std::string window = real_sentences().at(7);
    DOCTEST_CHECK(DnaTokenizer::load(folder / "t.model").encode(window) ==
                  DnaTokenizer::load(test_data("tokenizer/small.model")).encode(window));
}

DOCTEST_TEST_CASE("train: spm_encode opens the model and gives the same ids") {
    const TempDir folder;
    train_tokenizer({.vocab_size = 300}, real_sentences(), folder / "t.model");
    const std::string window = real_sentences().at(11);
    write_file(folder / "in.txt", window + "\n");
    const std::string command = "spm_encode --model=" + (folder / "t.model").string() +
                                " --output_format=id < " + (folder / "in.txt").string() + " > " +
                                (folder / "out.txt").string() + " 2> /dev/null";
    DOCTEST_REQUIRE(std::system(command.c_str()) == 0);
    std::string ours;
    for (const std::int32_t id : DnaTokenizer::load(folder / "t.model").encode(window)) {
        ours += (ours.empty() ? "" : " ") + std::to_string(id);
    }
    DOCTEST_CHECK(read_file(folder / "out.txt") == ours + "\n");
}

DOCTEST_TEST_CASE("train: threads, lower case and runs of N change nothing") {
    auto sentences = real_sentences();
    sentences.resize(40);
    const std::string plain = vocabulary_after({.vocab_size = 200}, sentences);
    DOCTEST_CHECK(vocabulary_after({.vocab_size = 200, .threads = 4}, sentences) == plain);
    for (std::string& sentence : sentences) {
        std::transform(sentence.begin(), sentence.end(), sentence.begin(),
                       [](char base) { return base == 'T' ? 'u' : base; });
        sentence = std::string(500, 'N') + sentence + "nnnn";
    }
    DOCTEST_CHECK(vocabulary_after({.vocab_size = 200}, sentences) == plain);
    DOCTEST_CHECK(plain.ends_with("\nN\t-194\n"));
}

DOCTEST_TEST_CASE("train: a chromosome on one line is split, not skipped and not fatal") {
    std::string chromosome;
    for (const std::string& sentence : real_sentences()) {
        chromosome += sentence;
    }
    const TempDir folder;
    const auto report = train_tokenizer({.vocab_size = 512}, {chromosome}, folder / "t.model");
    DOCTEST_CHECK(report.sentences == 1);
    DOCTEST_CHECK(report.bases == 100'000);
}

DOCTEST_TEST_CASE("train: the longest piece is as asked") {
    const std::vector<std::string> repeats(50, std::string(400, 'A') + "CGTT");
    const auto longest = [&](std::int32_t limit) {
        const TempDir folder;
        train_tokenizer({.vocab_size = 15, .max_piece_length = limit}, repeats, folder / "t.model");
        const auto tokenizer = DnaTokenizer::load(folder / "t.model");
        std::int32_t length = 0;
        for (std::int32_t id = 0; id < tokenizer.vocab_size(); ++id) {
            length = std::max(length, tokenizer.piece_length(id));
        }
        return length;
    };
    DOCTEST_CHECK(longest(4) == 4);
    DOCTEST_CHECK(longest(16) == 16);
}

DOCTEST_TEST_CASE("train: letters that never occur are pieces all the same") {
    const TempDir folder;
    train_tokenizer({.vocab_size = 12}, {"AAAATTTTAAAATTTT"}, folder / "t.model");
    const auto tokenizer = DnaTokenizer::load(folder / "t.model");
    DOCTEST_CHECK(tokenizer.decode(tokenizer.encode("GATTACAN")) == "GATTACAN");
}

DOCTEST_TEST_CASE("train: a sample depends on the seed alone and is of the size asked for") {
    const TempDir folder;
    const TrainSpec spec{.vocab_size = 100, .max_sentences = 20, .seed = 5};
    const auto report = train_tokenizer(spec, real_sentences(), folder / "t.model");
    DOCTEST_CHECK(report.sentences == 20);
    DOCTEST_CHECK(vocabulary_after(spec, real_sentences()) == read_file(folder / "t.vocab"));
    DOCTEST_CHECK(vocabulary_after({.vocab_size = 100, .max_sentences = 20, .seed = 6}, real_sentences()) !=
                  read_file(folder / "t.vocab"));
    DOCTEST_CHECK(vocabulary_after({.vocab_size = 100, .max_sentences = 143}, real_sentences()) ==
                  vocabulary_after({.vocab_size = 100}, real_sentences()));
}

DOCTEST_TEST_CASE("train: errors say what to do and leave no file behind") {
    const TempDir folder;
    const auto message = [&](const TrainSpec& spec, std::vector<std::string> sentences) {
        return message_of<Error>([&] { train_tokenizer(spec, sentences, folder / "t.model"); });
    };
    DOCTEST_CHECK(message({.vocab_size = 512}, {}) ==
                  "the corpus holds no sentence, so there is nothing to train a tokenizer on");
    DOCTEST_CHECK(message({.vocab_size = 512}, {"NNNN", "nnn"}) ==
                  "the corpus holds N alone, so there is nothing to train a tokenizer on");
    DOCTEST_CHECK(message({.vocab_size = 9}, {"ACGT"}) ==
                  "--vocab-size must be at least 10, 5 special pieces and A C G T N");
    DOCTEST_CHECK(
        message({.vocab_size = 512}, {"ACGTACGTAC"}) ==
        "the corpus of 10 bases gives at most 15 pieces; give --vocab-size 15 or less, or more sequence");
    DOCTEST_CHECK(std::filesystem::is_empty(folder.path()));
    DOCTEST_CHECK_FALSE(vocabulary_after({.vocab_size = 15}, {"ACGTACGTAC"}).empty());
    write_file(folder / "t.vocab", "kept");
    DOCTEST_CHECK(message({.vocab_size = 100}, real_sentences()).find("t.vocab: exists already") !=
                  std::string::npos);
    DOCTEST_CHECK(read_file(folder / "t.vocab") == "kept");
    DOCTEST_CHECK_FALSE(std::filesystem::exists(folder / "t.model"));
    train_tokenizer({.vocab_size = 100}, real_sentences(), folder / "t.model", Overwrite::allow);
    DOCTEST_CHECK(read_file(folder / "t.vocab") != "kept");
}

DOCTEST_TEST_CASE("train: both engines write the same files") {
    const TempDir folder;
    train_tokenizer({.vocab_size = 700}, real_sentences(), folder / "exact.model");
    train_tokenizer({.vocab_size = 700, .engine = TrainEngine::sentencepiece, .threads = 3}, real_sentences(),
                    folder / "sp.model");
    DOCTEST_CHECK(read_file(folder / "exact.vocab") == read_file(folder / "sp.vocab"));
    DOCTEST_CHECK(read_file(folder / "exact.model") == read_file(folder / "sp.model"));
}

DOCTEST_TEST_CASE(
    "train: the ways to count overlaps differ, and one of them is the installed SentencePiece's") {
    const auto with = [](OverlapCounting overlaps) {
        return vocabulary_after({.vocab_size = 300, .overlaps = overlaps}, real_sentences());
    };
    const std::string every = with(OverlapCounting::every), alternate = with(OverlapCounting::alternate),
                      installed = with(OverlapCounting::installed);
    DOCTEST_CHECK(every != alternate);
    DOCTEST_CHECK((installed == every || installed == alternate));
    DOCTEST_CHECK(
        message_of<ConfigError>([] {
            TrainSpec{.engine = TrainEngine::sentencepiece, .overlaps = OverlapCounting::every}.validate();
        }) == "--count-overlaps is for --engine exact: SentencePiece counts as its version does");
}

DOCTEST_TEST_CASE("train: a limit of memory trains on a sample") {
    std::vector<std::string> sentences;
    for (int copy = 0; copy < 15; ++copy) {
        const auto more = real_sentences();
        sentences.insert(sentences.end(), more.begin(), more.end());
    }
    const TrainSpec spec{.vocab_size = 100, .max_memory = 103'000'000};
    const TempDir folder;
    const auto report = train_tokenizer(spec, sentences, folder / "t.model");
    DOCTEST_CHECK(report.bases <= 1'000'000);
    DOCTEST_CHECK(report.bases > 500'000);
    DOCTEST_CHECK(tokenizer::estimated_memory(TrainEngine::exact, report.bases) <= spec.max_memory);
    DOCTEST_CHECK(message_of<ConfigError>([] { TrainSpec{.max_memory = 1000}.validate(); }) ==
                  "--max-memory must be at least 103 MB");
    DOCTEST_CHECK(message_of<ConfigError>([] {
                      TrainSpec{.vocab_size = 70'000}.validate();
                  }).starts_with("--vocab-size can be at most 65000 with --engine exact"));
}

DOCTEST_TEST_CASE("train: a corpus small for its vocabulary gets SentencePiece's pieces all the same") {
    const TempDir folder;
    const CapturedLog log;
    train_tokenizer({.vocab_size = 8000}, real_sentences(), folder / "exact.model");
    DOCTEST_CHECK(log.text().find("which come first is up to SentencePiece") != std::string::npos);
    train_tokenizer({.vocab_size = 8000, .engine = TrainEngine::sentencepiece}, real_sentences(),
                    folder / "sp.model");
    DOCTEST_CHECK(read_file(folder / "exact.model") == read_file(folder / "sp.model"));
    const auto other = tokenizer::installed_counting() == tokenizer::OverlapCounting::alternate
                           ? OverlapCounting::every
                           : OverlapCounting::alternate;
    train_tokenizer({.vocab_size = 8000, .overlaps = other}, real_sentences(), folder / "other.model");
    DOCTEST_CHECK(log.text().find("SentencePiece may choose others among them") != std::string::npos);
}

DOCTEST_TEST_CASE("train: each option that is out of range is named") {
    const auto message = [](const TrainSpec& spec) {
        return message_of<ConfigError>([&] { spec.validate(); });
    };
    DOCTEST_CHECK_NOTHROW(TrainSpec{}.validate());
    DOCTEST_CHECK_NOTHROW(TrainSpec{.vocab_size = 10}.validate());
    DOCTEST_CHECK_NOTHROW(TrainSpec{.vocab_size = 65'000}.validate());
    DOCTEST_CHECK(message({.vocab_size = 65'001}).starts_with("--vocab-size can be at most 65000"));
    DOCTEST_CHECK_NOTHROW((TrainSpec{.vocab_size = 65'001, .engine = TrainEngine::sentencepiece}.validate()));
    DOCTEST_CHECK(message({.max_piece_length = 0}) == "--max-piece-length must be at least 1");
    DOCTEST_CHECK(message({.max_sentences = -1}) == "--max-sentences must not be negative; 0 takes all");
    DOCTEST_CHECK(message({.max_memory = -1}) == "--max-memory must be at least 103 MB");
    DOCTEST_CHECK(message({.max_memory = 102'999'999}) == "--max-memory must be at least 103 MB");
    DOCTEST_CHECK_NOTHROW(TrainSpec{.max_memory = 103'000'000}.validate());
    DOCTEST_CHECK(message({.max_memory = 189'999'999, .engine = TrainEngine::sentencepiece}) ==
                  "--max-memory must be at least 190 MB");
}

DOCTEST_TEST_CASE("train: memory grows with the bases, thirty times as fast with SentencePiece") {
    using tokenizer::estimated_memory;
    DOCTEST_CHECK(estimated_memory(TrainEngine::exact, 1'000'000'000) -
                      estimated_memory(TrainEngine::exact, 0) ==
                  3'000'000'000);
    DOCTEST_CHECK(estimated_memory(TrainEngine::sentencepiece, 1'000'000'000) -
                      estimated_memory(TrainEngine::sentencepiece, 0) ==
                  90'000'000'000);
}

DOCTEST_TEST_CASE("train: a model may not take the name of the list beside it, and a signal leaves no file") {
    const TempDir folder;
    DOCTEST_CHECK(message_of<ConfigError>([&] {
                      train_tokenizer({.vocab_size = 100}, real_sentences(), folder / "t.vocab");
                  }) == (folder / "t.vocab").string() +
                            ": the model must not end in .vocab, the name of the list beside it");
    set_stop_signal(SIGINT);
    DOCTEST_CHECK_THROWS_AS(train_tokenizer({.vocab_size = 300}, real_sentences(), folder / "t.model"),
                            Stopped);
    set_stop_signal(0);
    DOCTEST_CHECK(std::filesystem::is_empty(folder.path()));
}
