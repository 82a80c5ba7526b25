// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/train/sentencepiece_trainer.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include <sstream>

using namespace bigbird::testing;
using namespace bigbird::tokenizer;

namespace {

TrainingCorpus real_corpus(std::size_t copies) {
    TrainingCorpus corpus(0);
    std::istringstream lines(read_file(test_data("tokenizer/sentences.txt")));
    for (std::string line; std::getline(lines, line);) {
        corpus.add(line);
    }
    for (std::size_t i = 1; i < copies; ++i) {
        corpus.add(std::string(500, "ACGT"[i % 4]));
    }
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
            const auto pieces = learn_pieces(corpus.positions(), learn, [](std::int64_t, double) {}).pieces;
            const std::string ours = serialize(assemble_model(spec, pieces, corpus));
            DOCTEST_CHECK(parse_sentencepiece_model(ours, "ours").pieces ==
                          parse_sentencepiece_model(library, "library").pieces);
            if (installed_counting() == OverlapCounting::alternate) {
                DOCTEST_CHECK(ours == library);
            }
        }
    }
}
