// SPDX-License-Identifier: Apache-2.0
#include "bigbird/pretraining/masked/token_scores.hpp"

#include "unit/pretraining/small_corpus.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/pretraining/masked/mlm_scoring.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <tuple>

using namespace bigbird;
using namespace bigbird::pretraining;
using namespace bigbird::testing;

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
        DOCTEST_CHECK(static_cast<std::int64_t>(lines.size()) == scores.chosen());
        DOCTEST_CHECK(bases == scores.bases());
        DOCTEST_CHECK(bits / static_cast<double>(bases) ==
                      doctest::Approx(scores.bits_per_character()).epsilon(1e-5));
        DOCTEST_CHECK(static_cast<double>(correct) / static_cast<double>(lines.size()) ==
                      doctest::Approx(scores.accuracy()));
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
