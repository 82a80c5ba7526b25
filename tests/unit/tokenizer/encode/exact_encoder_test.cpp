// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/encode/exact_encoder.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"
#include "unit/tokenizer/bpe_oracle.hpp"

#include "bigbird/core/parallel.hpp"
#include "bigbird/core/rng.hpp"
#include "bigbird/tokenizer/formats/sentencepiece_model.hpp"
#include "bigbird/tokenizer/train/train.hpp"

#include <sentencepiece_processor.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <utility>
#include <vector>

using namespace bigbird::testing;
using namespace bigbird::tokenizer;

namespace {

struct Both {
    explicit Both(const std::string& file) : Both(file, read_file(test_data(file))) {}
    Both(const std::string& file, std::string model)
        : bytes(std::move(model)), encoder(bpe_rules_of(parse_sentencepiece_model(bytes, file), file)) {
        DOCTEST_REQUIRE(oracle.LoadFromSerializedProto({bytes.data(), bytes.size()}).ok());
    }
    bool agree(const std::string& text) const {
        std::vector<int> expected;
        DOCTEST_REQUIRE(oracle.Encode({text.data(), text.size()}, &expected).ok());
        return encoder.encode(text) == std::vector<std::int32_t>(expected.begin(), expected.end());
    }
    std::string bytes;
    ExactEncoder encoder;
    sentencepiece::SentencePieceProcessor oracle;
};

}  // namespace

DOCTEST_TEST_CASE("tokenizer/exact_encoder: SentencePiece's ids on real sequence") {
    const Both both("tokenizer/small.model");
    const std::string dna = real_sequence();
    DOCTEST_CHECK(both.agree(dna));
    for (std::size_t begin = 0; begin + 8000 <= dna.size(); begin += 7919)
        DOCTEST_CHECK(both.agree(dna.substr(begin, 8000)));
}

DOCTEST_TEST_CASE("tokenizer/exact_encoder: SentencePiece's ids, with more pieces than short tokens") {
    TrainingCorpus corpus(0);
    for (const std::string& sentence : real_sentences())
        corpus.add(sentence);
    corpus.add_missing_letters();
    TrainSpec spec;
    spec.vocab_size = 4000;
    const Both both("trained", train_with_sentencepiece(spec, corpus));
    DOCTEST_CHECK(both.encoder.encode("GATTACA").size() < 4);
    const std::string dna = real_sequence();
    DOCTEST_CHECK(both.agree(dna));
    bigbird::Rng rng(5);
    int wrong = 0;
    for (int round = 0; round < 300; ++round) {
        for (const std::string letters : {"ACGT", "A", "AC", "ACGTN", "ACGTNRYacgt", "AAAAAAAAC"}) {
            wrong += !both.agree(
                random_text(rng, static_cast<std::size_t>(rng.between(1, 600)), letters, round % 10 / 10.0));
        }
        const auto begin = static_cast<std::size_t>(rng.between(0, 90'000));
        std::string mutated = dna.substr(begin, static_cast<std::size_t>(rng.between(1, 9000)));
        for (std::size_t i = 0; i < mutated.size(); i += 40)
            mutated[i] = "ACGT"[rng.between(0, 3)];
        wrong += !both.agree(mutated);
    }
    DOCTEST_CHECK(wrong == 0);
}

DOCTEST_TEST_CASE("tokenizer/exact_encoder: SentencePiece's ids on any text") {
    const Both both("tokenizer/small.model"), no_n("tokenizer/malformed/no_n.model");
    bigbird::Rng rng(4);
    for (const std::string text :
         {"", "A", "N", "a", "NNNNNNNNNN", "acgt", "RYKMACGTN", "A*C-.", "NA", "ANNNA"}) {
        DOCTEST_CHECK(both.agree(text));
        DOCTEST_CHECK(no_n.agree(text));
    }
    int wrong = 0;
    for (int round = 0; round < 1500; ++round) {
        for (const std::string letters : {"ACGT", "A", "AT", "ACGTN", "ACGTNRYacgt", "AAAAAAAAC"}) {
            const std::string text =
                random_text(rng, static_cast<std::size_t>(rng.between(1, 400)), letters, round % 10 / 10.0);
            wrong += !both.agree(text) + !no_n.agree(text);
        }
    }
    DOCTEST_CHECK(wrong == 0);
}

DOCTEST_TEST_CASE("tokenizer/exact_encoder: long text in chunks, the same whatever the threads") {
    const Both both("tokenizer/small.model");
    bigbird::Rng rng(6);
    const std::string real = real_sequence();
    std::vector<std::string> texts{real + real, random_text(rng, 300'000, "ACGT", 0),
                                   random_text(rng, 200'000, "ACGTN", 0.9)};
    for (const std::string unit : {"A", "AT", "ATT", "GGCAT", "ACGTTGCA", "TTAGGG", "N"}) {
        std::string repeated = "CG";
        while (repeated.size() < 150'000)
            repeated += unit;
        texts.push_back(repeated + "CCA" + repeated.substr(0, 1 << 15));
    }
    for (const std::string& text : texts) {
        DOCTEST_CHECK(both.agree(text));
        const auto ids = both.encoder.encode(text);
        DOCTEST_CHECK(both.encoder.encode(text, 3) == ids);
    }
}

DOCTEST_TEST_CASE("tokenizer/exact_encoder: spans cover the text") {
    const Both both("tokenizer/malformed/no_n.model");
    const std::string text = "ACGTNNNNTTacgtGATTACA";
    const Encoding encoding = both.encoder.encode(text, 1, true);
    DOCTEST_CHECK(encoding.ids == both.encoder.encode(text));
    DOCTEST_REQUIRE(encoding.spans.size() == encoding.ids.size());
    DOCTEST_CHECK(spans_cover(encoding, text.size()));
    int unknown = 0;
    for (std::size_t i = 0; i < encoding.ids.size(); ++i) {
        const TextSpan span = encoding.spans[i];
        if (encoding.ids[i] == 1) {
            ++unknown;
        } else {
            DOCTEST_CHECK(both.oracle.IdToPiece(encoding.ids[i]) ==
                          text.substr(span.begin, span.end - span.begin));
        }
    }
    DOCTEST_CHECK(unknown == 2);
    const std::string real = real_sequence();
    const Encoding chunked = both.encoder.encode(real, 2, true);
    DOCTEST_CHECK(chunked.ids == both.encoder.encode(real));
    DOCTEST_CHECK(chunked.spans.back().end == real.size());
}

DOCTEST_TEST_CASE("tokenizer/exact_encoder: pieces that encoding never gives are told") {
    SentencePieceModel model;
    model.is_bpe = true;
    model.pieces = {{"[UNK]", 0, PieceKind::unknown}};
    for (const char* text : {"CA", "AC", "GACG", "A", "C", "G"})
        model.pieces.push_back({text, -static_cast<float>(model.pieces.size()), PieceKind::normal});
    const ExactEncoder encoder(bpe_rules_of(model, "x"));
    DOCTEST_CHECK(std::vector(encoder.unreachable().begin(), encoder.unreachable().end()) ==
                  std::vector<std::int32_t>{3});
    DOCTEST_CHECK(encoder.encode("GACG") == std::vector<std::int32_t>{6, 2, 6});
}

DOCTEST_TEST_CASE("tokenizer/exact_encoder: unknown letters alone or together, and where they stand") {
    for (const bool fuse : {false, true}) {
        BpeRules rules;
        const Token a = rules.add("A", 10), c = rules.add("C", 11), ac = rules.add("AC", 12);
        rules.add_merge(a, c, 0, ac);
        rules.unknown_id = 3;
        rules.fuse_unknown = fuse;
        const ExactEncoder encoder(rules);
        const Encoding encoding = encoder.encode("xxACyA", 1, true);
        using Ids = std::vector<std::int32_t>;
        using Spans = std::vector<TextSpan>;
        DOCTEST_CHECK(encoding.ids == (fuse ? Ids{3, 12, 3, 10} : Ids{3, 3, 12, 3, 10}));
        DOCTEST_CHECK(encoding.spans == (fuse ? Spans{{0, 2}, {2, 4}, {4, 5}, {5, 6}}
                                              : Spans{{0, 1}, {1, 2}, {2, 4}, {4, 5}, {5, 6}}));
        DOCTEST_CHECK(encoder.encode("AxC") == Ids{10, 3, 11});  // nothing is merged across one
        DOCTEST_CHECK(encoder.encode("").empty());
        DOCTEST_CHECK(encoder.encode(std::string(5, '\0')).size() == (fuse ? 1 : 5));
    }
}

DOCTEST_TEST_CASE("tokenizer/exact_encoder: sizes around a chunk of 32,768 letters, with spans") {
    const Both both("tokenizer/small.model");
    const std::string dna = real_sequence() + real_sequence();
    constexpr std::size_t chunk = std::size_t{1} << 15, overlap = 32 * 16;
    for (const std::size_t size : {chunk - 1, chunk, chunk + 1, chunk + overlap, chunk + overlap + 1,
                                   2 * chunk - 1, 2 * chunk + 1, 3 * chunk + overlap}) {
        std::string text = dna.substr(17, size);
        text[size / 3] = 'x';  // a stretch ends here
        DOCTEST_CAPTURE(size);
        DOCTEST_CHECK(both.agree(text));
        const Encoding encoding = both.encoder.encode(text, 2, true);
        DOCTEST_CHECK(encoding.ids == both.encoder.encode(text));
        DOCTEST_CHECK(spans_cover(encoding, size));
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < encoding.ids.size(); ++i) {
            const TextSpan span = encoding.spans[i];
            wrong += encoding.ids[i] != 1 &&
                     both.oracle.IdToPiece(encoding.ids[i]) != text.substr(span.begin, span.end - span.begin);
        }
        DOCTEST_CHECK(wrong == 0);
    }
}

DOCTEST_TEST_CASE("tokenizer/exact_encoder: many threads share one encoder") {
    const Both both("tokenizer/small.model");
    const std::string dna = real_sequence();
    const auto whole = both.encoder.encode(dna);
    std::atomic<int> wrong{0};
    bigbird::parallel_for(16, 4, [&](std::int64_t i) {
        wrong += both.encoder.encode(dna, static_cast<int>(i % 3) + 1) != whole;
    });
    DOCTEST_CHECK(wrong == 0);
}
