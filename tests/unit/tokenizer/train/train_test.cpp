// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/train/train.hpp"

#include "support/captured_log.hpp"
#include "support/temp_dir.hpp"
#include "support/testing.hpp"
#include "unit/tokenizer/bpe_oracle.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/nucleotide.hpp"
#include "bigbird/core/rng.hpp"
#include "bigbird/tokenizer/text_sketch.hpp"
#include "bigbird/tokenizer/tokenizer.hpp"
#include "bigbird/tokenizer/train/merges/learn_pieces.hpp"
#include "bigbird/tokenizer/train/training_corpus.hpp"

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

using namespace bigbird;
using namespace bigbird::testing;
using namespace bigbird::tokenizer;

namespace {

tokenizer::TrainReport train_tokenizer(const TrainSpec& spec, const std::vector<std::string>& sentences,
                                       const std::filesystem::path& target,
                                       Overwrite overwrite = Overwrite::refuse) {
    tokenizer::TokenizerTrainer trainer(spec, target, overwrite);
    for (const std::string& sentence : sentences)
        trainer.add(sentence);
    return trainer.finish();
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

DOCTEST_TEST_CASE("train: a model knows which sequence it was trained on, of either strand") {
    const TempDir folder;
    const std::vector<std::string> sentences = real_sentences();
    train_tokenizer({.vocab_size = 64}, {sentences.begin(), sentences.begin() + 100}, folder / "a.model");
    const auto learned = TextSketch::parse(DnaTokenizer::load(folder / "a.model").trained_on());
    const auto holds = [&](const std::string& text) {
        TextSketch part;
        part.add(text);
        return learned.holds(part);
    };
    std::string learned_text, other_text;
    for (std::size_t i = 90; i < 110; ++i)
        (i < 100 ? learned_text : other_text) += sentences[i];
    DOCTEST_CHECK(holds(learned_text));
    std::string reverse(learned_text.rbegin(), learned_text.rend());
    std::ranges::transform(reverse, reverse.begin(), [](char base) {
        return base == 'A' ? 'T' : base == 'C' ? 'G' : base == 'G' ? 'C' : base == 'T' ? 'A' : base;
    });
    DOCTEST_CHECK(holds(reverse));
    DOCTEST_CHECK_FALSE(holds(other_text));
    DOCTEST_CHECK_FALSE(holds(std::string(10'000, 'N')));
    DOCTEST_CHECK(TextSketch::parse(learned.text()).text() == learned.text());
    DOCTEST_CHECK_FALSE(TextSketch::parse("sha256:12").holds(learned));
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
    for (const std::int32_t id : DnaTokenizer::load(folder / "t.model").encode(window))
        ours += (ours.empty() ? "" : " ") + std::to_string(id);
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
    for (const std::string& sentence : real_sentences())
        chromosome += sentence;
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
        for (std::int32_t id = 0; id < tokenizer.vocab_size(); ++id)
            length = std::max(length, tokenizer.piece_length(id));
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

DOCTEST_TEST_CASE("train: errors say what to do and leave no file behind") {
    const TempDir folder;
    const auto message = [&](const TrainSpec& spec, std::vector<std::string> sentences) {
        return message_of<Error>([&] { train_tokenizer(spec, sentences, folder / "t.model"); });
    };
    DOCTEST_CHECK(message({.vocab_size = 512}, {}) ==
                  "the corpus holds no sentence, so there is nothing to train a tokenizer on");
    DOCTEST_CHECK(message({.vocab_size = 512}, {"NNNN", "nnn"}) ==
                  "the corpus holds only N, so there is nothing to train a tokenizer on");
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

DOCTEST_TEST_CASE(
    "train: the ways to count overlaps differ, and one of them is the installed SentencePiece's") {
    const auto with = [](OverlapCounting overlaps) {
        return vocabulary_after({.vocab_size = 300, .overlaps = overlaps}, real_sentences());
    };
    const std::string every = with(OverlapCounting::every), alternate = with(OverlapCounting::alternate),
                      installed = with(OverlapCounting::installed);
    DOCTEST_CHECK(every != alternate);
    DOCTEST_CHECK((installed == every || installed == alternate));
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
    DOCTEST_CHECK(tokenizer::estimated_memory(report.bases) <= spec.max_memory);
}

DOCTEST_TEST_CASE("train: each option that is out of range is named") {
    const auto message = [](const TrainSpec& spec) {
        return message_of<ConfigError>([&] { spec.validate(); });
    };
    DOCTEST_CHECK_NOTHROW(TrainSpec{}.validate());
    DOCTEST_CHECK_NOTHROW(TrainSpec{.vocab_size = 10}.validate());
    DOCTEST_CHECK_NOTHROW(TrainSpec{.vocab_size = 65'000}.validate());
    DOCTEST_CHECK(message({.vocab_size = 65'001}) == "--vocab-size can be at most 65000 pieces");
    DOCTEST_CHECK(message({.max_piece_length = 0}) == "--max-piece-length must be at least 1");
    DOCTEST_CHECK(message({.max_memory = -1}) == "--max-memory must be at least 103 MB");
    DOCTEST_CHECK(message({.max_memory = 102'999'999}) == "--max-memory must be at least 103 MB");
    DOCTEST_CHECK_NOTHROW(TrainSpec{.max_memory = 103'000'000}.validate());
}

DOCTEST_TEST_CASE("train: memory grows with the bases") {
    using tokenizer::estimated_memory;
    DOCTEST_CHECK(estimated_memory(1'000'000'000) - estimated_memory(0) == 3'000'000'000);
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

namespace {

TrainingCorpus real_corpus(std::size_t copies) {
    TrainingCorpus corpus(0);
    for (const std::string& sentence : real_sentences())
        corpus.add(sentence);
    for (std::size_t i = 1; i < copies; ++i)
        corpus.add(std::string(500, "ACGT"[i % 4]));
    corpus.add_missing_letters();
    return corpus;
}

}  // namespace

// The whole file, settings included, where SentencePiece is the version that the settings' bytes were taken
// from; the pieces with any version.
DOCTEST_TEST_CASE("sentencepiece_trainer: our pieces make the file that the library writes") {
    for (const std::int32_t limit : {16, 64}) {
        for (const std::int32_t size : {40, 512, 1000}) {
            const TrainSpec spec{.vocab_size = size, .max_piece_length = limit};
            TrainingCorpus corpus = real_corpus(9);
            const std::string library = train_with_sentencepiece(spec, corpus);
            const LearnSpec learn{
                .merges = size - 10, .max_piece_length = limit, .counting = installed_counting()};
            const auto pieces = learn_pieces(corpus.positions(), learn, [](std::int64_t, double) {}).texts;
            const std::string ours = serialize(assemble_model(spec, pieces, corpus));
            DOCTEST_CHECK(parse_sentencepiece_model(ours, "ours").pieces ==
                          parse_sentencepiece_model(library, "library").pieces);
            if (installed_counting() == OverlapCounting::alternate) DOCTEST_CHECK(ours == library);
        }
    }
}

DOCTEST_TEST_CASE("train: a corpus small for its vocabulary gets SentencePiece's pieces all the same") {
    const TempDir folder;
    const CapturedLog log;
    train_tokenizer({.vocab_size = 8000}, real_sentences(), folder / "exact.model");
    DOCTEST_CHECK(log.text().find("which come first is up to SentencePiece") != std::string::npos);
    const std::string library = train_with_sentencepiece({.vocab_size = 8000}, real_corpus(1));
    DOCTEST_CHECK(parse_sentencepiece_model(read_file(folder / "exact.model"), "exact").pieces ==
                  parse_sentencepiece_model(library, "library").pieces);
    const auto other = tokenizer::installed_counting() == OverlapCounting::alternate
                           ? OverlapCounting::every
                           : OverlapCounting::alternate;
    train_tokenizer({.vocab_size = 8000, .overlaps = other}, real_sentences(), folder / "other.model");
    DOCTEST_CHECK(log.text().find("SentencePiece may choose others among them") != std::string::npos);
}

namespace {

std::vector<std::string> stretches_of(const TrainingCorpus& corpus) {
    std::vector<std::string> stretches;
    std::size_t position = 1;
    while (position < corpus.positions().size())
        stretches.push_back(text_of(next_stretch(corpus.positions(), position)));
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
        while (sentence.size() < 100)
            sentence += "ACGT"[rng.between(0, 3)];
    }
    const auto sample = [&](std::uint64_t seed, std::size_t most) {
        TrainingCorpus corpus(seed, most);
        for (const std::string& sentence : sentences)
            corpus.add(sentence);
        DOCTEST_CHECK(corpus.positions().size() <= most);
        DOCTEST_CHECK(corpus.sentences() * 100 == corpus.bases());
        std::int64_t letters = 0;
        for (Symbol letter = 0; letter < 4; ++letter)
            letters += corpus.count(letter);
        DOCTEST_CHECK(letters == corpus.bases());
        return stretches_of(corpus);
    };
    const auto some = sample(7, 60'000);
    DOCTEST_CHECK(some.size() > 350);
    DOCTEST_CHECK(some.size() < 595);
    DOCTEST_CHECK(sample(7, 60'000) == some);
    DOCTEST_CHECK(sample(8, 60'000) != some);
    std::size_t next = 0;
    for (const std::string& sentence : sentences)
        next += next < some.size() && some[next] == sentence;
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

DOCTEST_TEST_CASE("training_corpus: missing letters are added once, and none that is there") {
    TrainingCorpus corpus(0);
    corpus.add("AATT");
    corpus.add_missing_letters();
    corpus.add_missing_letters();
    DOCTEST_CHECK(stretches_of(corpus) == std::vector<std::string>{"AATT", "C", "G", "N"});
    TrainingCorpus empty(0);
    DOCTEST_CHECK(stretches_of(empty).empty());
    empty.add_missing_letters();
    DOCTEST_CHECK(stretches_of(empty) == std::vector<std::string>{"A", "C", "G", "T", "N"});
}

DOCTEST_TEST_CASE("training_corpus: one sentence is kept, however small the limit") {
    TrainingCorpus corpus(3, 100);
    corpus.add(std::string(500, 'A'));
    DOCTEST_CHECK(corpus.sentences() == 1);
    DOCTEST_CHECK(corpus.bases() == 500);
    for (int i = 0; i < 50; ++i)
        corpus.add(std::string(40, 'C'));
    DOCTEST_CHECK(corpus.seen() == 51);
    DOCTEST_CHECK(corpus.sentences() <= 2);
}

namespace {

LetterArray letters_of(const std::vector<std::string>& stretches) {
    LetterArray letters;
    for (const std::string& stretch : stretches)
        append_letters(letters, stretch);
    return letters;
}

std::vector<std::string> learn(const std::vector<std::string>& stretches, const LearnSpec& spec) {
    LetterArray corpus = letters_of(stretches);
    return learn_pieces(corpus, spec, [](std::int64_t, double) {}).texts;
}

// The definition: count every pair anew in each round, as SentencePiece from 0.1.99 on does.
std::vector<std::string> learn_plainly(const std::vector<std::string>& stretches, const LearnSpec& spec) {
    using Pair = std::pair<std::string,
                           std::string>;  // symbols have distinct texts, since duplicates are never merged
    std::vector<std::vector<std::string>> corpus;
    for (const std::string& stretch : stretches) {
        auto& tokens = corpus.emplace_back();
        for (const char letter : stretch)
            tokens.emplace_back(1, letter);
    }
    std::vector<std::string> learnt;
    while (static_cast<std::int64_t>(learnt.size()) < spec.merges) {
        std::map<Pair, std::int64_t> counts;
        for (const auto& tokens : corpus)
            for (std::size_t i = 0; i + 1 < tokens.size(); ++i)
                ++counts[{tokens[i], tokens[i + 1]}];
        using Rank = std::tuple<std::int64_t, std::size_t, std::string>;
        std::optional<std::pair<Rank, Pair>> best;
        for (const auto& [pair, count] : counts) {
            const std::string text = pair.first + pair.second;
            const Rank rank(-count, text.size(), text);
            const bool known = std::find(learnt.begin(), learnt.end(), text) != learnt.end();
            if (!known && text.size() <= static_cast<std::size_t>(spec.max_piece_length) &&
                (!best || rank < best->first))
                best = {rank, pair};
        }
        if (!best) break;
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
            stretch.append(static_cast<std::size_t>(rng.uniform() < 0.1 ? rng.between(2, 40) : 1),
                           letters[random_number(rng, letters.size())]);
        }
    }
    return stretches;
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
        for (const int threads : {2, 5})
            DOCTEST_CHECK(learn(sentences, {.merges = 600, .counting = counting, .threads = threads}) == one);
    }
}

DOCTEST_TEST_CASE("tokenizer/exact_trainer: the pieces of SentencePiece 0.1.97 and 0.2.3, in order") {
    const auto sentences = real_sentences();
    const auto expected = [](const char* file) {
        std::vector<std::string> pieces;
        std::istringstream lines(read_file(test_data(std::string("tokenizer/") + file)));
        for (std::string piece, score; lines >> piece >> score;)
            if (piece.size() > 1 && piece[0] != '[') pieces.push_back(piece);
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
    LetterArray corpus = letters_of(real_sentences());
    DOCTEST_CHECK_THROWS_AS(learn_pieces(corpus, {.merges = 500, .threads = 2},
                                         [](std::int64_t, double) { throw std::runtime_error("stop"); }),
                            std::runtime_error);
}

DOCTEST_TEST_CASE("tokenizer/exact_trainer: says where rare pairs leave the choice to chance") {
    const auto certain = [](std::int64_t merges, bool only_certain) {
        LetterArray corpus = letters_of(real_sentences());
        const std::vector<std::uint8_t> letters(corpus.data(), corpus.data() + corpus.size());
        const LearnSpec spec{.merges = merges, .only_certain = only_certain};
        const LearntPieces learnt = learn_pieces(corpus, spec, [](std::int64_t, double) {});
        const bool restored =
            corpus.size() == letters.size() && std::equal(letters.begin(), letters.end(), corpus.data());
        DOCTEST_CHECK(restored == (only_certain && !learnt.certain));
        const auto count = static_cast<std::int64_t>(learnt.texts.size());
        DOCTEST_CHECK((count == merges || (only_certain && !learnt.certain && count > 1000)));
        return learnt.certain;
    };
    DOCTEST_CHECK(certain(1000, true));
    DOCTEST_CHECK_FALSE(certain(8000, true));
    DOCTEST_CHECK_FALSE(certain(8000, false));
}

DOCTEST_TEST_CASE("tokenizer/exact_trainer: the share of the work rises to one") {
    LetterArray corpus = letters_of(real_sentences());
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
