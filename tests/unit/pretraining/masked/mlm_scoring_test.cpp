// SPDX-License-Identifier: Apache-2.0
#include "bigbird/pretraining/masked/mlm_scoring.hpp"

#include "unit/pretraining/small_corpus.hpp"

#include "bigbird/core/error.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <tuple>

using namespace bigbird;
using namespace bigbird::pretraining;
using namespace bigbird::testing;

namespace {

SequenceScore score_of(double nats, double bases, int next_sentence = -1) {
    SequenceScore score;
    score.nats = nats;
    score.chosen = 10;
    score.correct = 4;
    score.bases = bases;
    score.pair = next_sentence + 1;
    return score;
}

}  // namespace

DOCTEST_TEST_CASE("mlm_scoring: a network that knows nothing pays log2 of the vocabulary for each token") {
    model::PreTrainingModel network(small_corpus_config());  // all parameters 0
    const corpus::ExampleSource source = small_source(true, {.mask = 1, .random = 0});
    const tokenizer::DnaTokenizer tokenizer = small_tokenizer();
    const MlmScores scores = score_mlm(network, source, tokenizer, {});
    DOCTEST_CHECK(static_cast<std::int64_t>(scores.sequences.size()) == source.epoch_size());
    std::int64_t chosen = 0, bases = 0;
    for (std::int64_t i = 0; i < source.epoch_size(); ++i) {
        const corpus::Example example = source.get(i);
        if (example.next_sentence == 0) {
            chosen += static_cast<std::int64_t>(example.masked_labels.size());
            for (const std::int32_t id : example.masked_labels)
                bases += static_cast<std::int64_t>(tokenizer.piece(id).size());
        }
    }
    const double vocabulary = tokenizer.vocab_size();
    DOCTEST_CHECK(scores.figures().chosen == chosen);
    DOCTEST_CHECK(scores.figures().bases == bases);
    DOCTEST_CHECK(scores.figures().mlm_loss == doctest::Approx(std::log(vocabulary)));
    DOCTEST_CHECK(
        scores.figures().bits_per_character ==
        doctest::Approx(std::log2(vocabulary) * static_cast<double>(chosen) / static_cast<double>(bases)));
    DOCTEST_CHECK(scores.figures().nsp_sequences == source.epoch_size());
    DOCTEST_CHECK(scores.figures().nsp_loss == doctest::Approx(std::log(2.0)));
    DOCTEST_CHECK(scores.figures().nsp_accuracy == doctest::Approx(0.5));  // always says "next", half are
}

DOCTEST_TEST_CASE(
    "mlm_scoring: figures do not depend on the batch, nor on the mode that the network was in") {
    model::PreTrainingModel network = small_network();
    network->train();
    const corpus::ExampleSource source = small_source();
    const MlmScores one = score_mlm(network, source, small_tokenizer(), {.sequences = 20, .max_tokens = 1});
    const MlmScores many =
        score_mlm(network, source, small_tokenizer(), {.sequences = 20, .max_tokens = 1024});
    DOCTEST_CHECK(network->is_training());
    DOCTEST_REQUIRE(one.sequences.size() == 20);
    for (std::size_t i = 0; i < 20; ++i) {
        DOCTEST_CHECK(one.sequences[i].nats == doctest::Approx(many.sequences[i].nats).epsilon(1e-5));
        DOCTEST_CHECK(one.sequences[i].bases == many.sequences[i].bases);
    }
    DOCTEST_CHECK(one.figures().mlm_loss > 0);
}

DOCTEST_TEST_CASE("mlm_scoring: pairs from two documents count for next-sentence prediction alone") {
    MlmScores scores;
    scores.sequences = {score_of(std::log(2.0) * 30, 20, 0), score_of(1e6, 20, 1),
                        score_of(std::log(2.0) * 50, 20, 0)};
    DOCTEST_CHECK(scores.figures().bits_per_character == doctest::Approx(2.0));
    DOCTEST_CHECK(scores.figures().accuracy == doctest::Approx(0.4));
    DOCTEST_CHECK(scores.figures().chosen == 20);
    DOCTEST_CHECK(scores.figures().nsp_sequences == 3);
    DOCTEST_CHECK(MlmScores{}.figures().bits_per_character == 0);
}

DOCTEST_TEST_CASE("mlm_scoring: the bootstrap interval is that of a mean of many, and repeats") {
    MlmScores scores;
    Rng rng(5);
    for (int i = 0; i < 400; ++i)
        scores.sequences.push_back(score_of(std::log(2.0) * (200 + 20 * rng.normal()), 100));
    const auto interval = [&](std::uint64_t seed) {
        return scores.interval(&SequenceScore::nats, std::log(2.0), &SequenceScore::bases, seed, 2000);
    };
    const auto [low, high] = interval(1);
    const double mean = scores.figures().bits_per_character, half = 1.96 * 0.2 / std::sqrt(400.0);
    DOCTEST_CHECK(low == doctest::Approx(mean - half).epsilon(0.002));
    DOCTEST_CHECK(high == doctest::Approx(mean + half).epsilon(0.002));
    DOCTEST_CHECK(interval(1) == std::pair(low, high));
    DOCTEST_CHECK(interval(2) != std::pair(low, high));
}

namespace {

/// Sentences of small_corpus(), by document.
std::vector<std::vector<std::string>> documents_of(std::size_t sentences) {
    std::vector<std::vector<std::string>> documents;
    std::istringstream lines(read_file(test_data("tokenizer/sentences.txt")));
    for (std::string line; std::getline(lines, line);) {
        if (documents.empty() || documents.back().size() == sentences) documents.emplace_back();
        documents.back().push_back(line);
    }
    return documents;
}

struct Line {
    std::size_t document = 0, sentence = 0, start = 0, end = 0;
    std::string piece;
    double bits = 0;
    int correct = 0;
};

std::vector<Line> lines_of(const std::string& text) {
    std::istringstream in(text);
    std::string header;
    std::getline(in, header);
    DOCTEST_CHECK(header == "#document\tsentence\tstart\tend\tpiece\tbits\tcorrect");
    std::vector<Line> lines;
    for (Line line; in >> line.document >> line.sentence >> line.start >> line.end >> line.piece >>
                    line.bits >> line.correct;)
        lines.push_back(line);
    return lines;
}

}  // namespace

DOCTEST_TEST_CASE(
    "token_scores: a line for each masked token, with its letters where the documents have them") {
    for (const bool nsp : {false, true}) {
        const TempDir folder;
        model::PreTrainingModel network = small_network();
        const corpus::ExampleSource source = small_source(nsp, {.mask = 1, .random = 0});
        const tokenizer::DnaTokenizer tokenizer = small_tokenizer();
        const MlmScores scores = score_mlm(network, source, tokenizer, {.tokens = true});
        genome::TextOutput output(folder / "t.tsv", Overwrite::refuse);
        write_token_scores(scores.tokens, source.corpus(), tokenizer, output);
        output.commit();
        const std::vector<Line> lines = lines_of(read_file(folder / "t.tsv"));
        const auto documents = documents_of(5);
        double bits = 0;
        std::int64_t bases = 0, correct = 0, wrong = 0;
        for (const Line& line : lines) {
            const std::string& sentence = documents.at(line.document - 1).at(line.sentence - 1);
            wrong += sentence.substr(line.start, line.end - line.start) != line.piece;
            bits += line.bits;
            bases += static_cast<std::int64_t>(line.piece.size());
            correct += line.correct;
        }
        DOCTEST_CHECK(wrong == 0);
        DOCTEST_CHECK(static_cast<std::int64_t>(lines.size()) == scores.figures().chosen);
        DOCTEST_CHECK(bases == scores.figures().bases);
        DOCTEST_CHECK(bits / static_cast<double>(bases) ==
                      doctest::Approx(scores.figures().bits_per_character).epsilon(1e-5));
        DOCTEST_CHECK(static_cast<double>(correct) / static_cast<double>(lines.size()) ==
                      doctest::Approx(scores.figures().accuracy));
        DOCTEST_CHECK(std::ranges::is_sorted(lines, {}, [](const Line& line) {
            return std::tuple(line.document, line.sentence, line.start);
        }));
    }
}

DOCTEST_TEST_CASE("token_scores: none are kept unless asked for, a token that was found is told") {
    const TempDir folder;
    model::PreTrainingModel network = small_network();
    const corpus::ExampleSource source = small_source();
    DOCTEST_CHECK(score_mlm(network, source, small_tokenizer(), {.sequences = 2}).tokens.empty());
    genome::TextOutput output(folder / "t.tsv", Overwrite::refuse);
    write_token_scores({{.token = 0, .nats = std::log(8.0), .correct = true}}, source.corpus(),
                       small_tokenizer(), output);
    output.commit();
    const std::vector<Line> lines = lines_of(read_file(folder / "t.tsv"));
    DOCTEST_REQUIRE(lines.size() == 1);
    DOCTEST_CHECK(lines[0].document == 1);
    DOCTEST_CHECK(lines[0].sentence == 1);
    DOCTEST_CHECK(lines[0].start == 0);
    DOCTEST_CHECK(lines[0].bits == doctest::Approx(3));
    DOCTEST_CHECK(lines[0].correct == 1);
}
