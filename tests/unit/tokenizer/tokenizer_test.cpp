// SPDX-License-Identifier: Apache-2.0
// The fixtures were made by Python's sentencepiece and spm_encode: scripts/checks/make_tokenizer_fixtures.py.
#include "bigbird/tokenizer/tokenizer.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/nucleotide.hpp"
#include "bigbird/core/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <sstream>

using namespace bigbird;
using namespace bigbird::testing;
using tokenizer::DnaTokenizer;

namespace {

struct Encoding {
    std::string name, dna;
    std::vector<std::int32_t> ids;
};

std::vector<Encoding> read_encodings() {
    std::vector<Encoding> encodings;
    std::istringstream lines(read_file(test_data("tokenizer/encodings.tsv")));
    for (std::string line; std::getline(lines, line);) {
        Encoding encoding;
        std::istringstream fields(line);
        std::getline(fields, encoding.name, '\t');
        std::getline(fields, encoding.dna, '\t');
        for (std::int32_t id = 0; fields >> id;) {
            encoding.ids.push_back(id);
        }
        encodings.push_back(std::move(encoding));
    }
    return encodings;
}

std::string normalised(std::string dna) {
    std::transform(dna.begin(), dna.end(), dna.begin(), normalised_base);
    return dna;
}

DnaTokenizer small_tokenizer() {
    return DnaTokenizer::load(test_data("tokenizer/small.model"));
}

}  // namespace

DOCTEST_TEST_CASE("encode: the ids of Python's sentencepiece and of spm_encode") {
    const DnaTokenizer tokenizer = small_tokenizer();
    const auto encodings = read_encodings();
    DOCTEST_REQUIRE(encodings.size() > 20);
    for (const Encoding& encoding : encodings) {
        DOCTEST_CAPTURE(encoding.name);
        DOCTEST_CHECK(tokenizer.encode(encoding.dna) == encoding.ids);
    }
}

DOCTEST_TEST_CASE("decode: gives the normalised sequence back, special pieces spell nothing") {
    const DnaTokenizer tokenizer = small_tokenizer();
    for (const Encoding& encoding : read_encodings()) {
        DOCTEST_CAPTURE(encoding.name);
        DOCTEST_CHECK(tokenizer.decode(encoding.ids) == normalised(encoding.dna));
    }
    const std::vector<std::int32_t> special{0, 2, 510, 4, 1, 3};
    DOCTEST_CHECK(tokenizer.decode(special) == "G");
    const std::vector<std::int32_t> outside{512}, negative{-1};
    DOCTEST_CHECK(message_of<ConfigError>([&] { static_cast<void>(tokenizer.decode(outside)); }) ==
                  "id 512 lies outside the tokenizer's vocabulary of 512");
    DOCTEST_CHECK_THROWS_AS(static_cast<void>(tokenizer.decode(negative)), ConfigError);
}

DOCTEST_TEST_CASE("encode: a sequence longer than SentencePiece's training limit") {
    const DnaTokenizer tokenizer = small_tokenizer();
    const auto encodings = read_encodings();
    const auto window = std::find_if(encodings.begin(), encodings.end(),
                                     [](const Encoding& e) { return e.dna.size() == 8000; });
    DOCTEST_REQUIRE(window != encodings.end());
    std::string dna;
    std::vector<std::int32_t> expected;
    for (int copy = 0; copy < 20; ++copy) {
        dna += window->dna + "N";
        expected.insert(expected.end(), window->ids.begin(), window->ids.end());
        expected.push_back(511);
    }
    DOCTEST_CHECK(tokenizer.encode(dna) == expected);
    std::erase(dna, 'N');
    DOCTEST_CHECK(tokenizer.decode(tokenizer.encode(dna)) == normalised(dna));
}

DOCTEST_TEST_CASE("encode: the same on many threads") {
    const DnaTokenizer tokenizer = small_tokenizer();
    const auto encodings = read_encodings();
    std::atomic<int> wrong{0};
    parallel_for(400, 4, [&](std::int64_t i) {
        const Encoding& encoding = encodings[static_cast<std::size_t>(i) % encodings.size()];
        wrong += tokenizer.encode(encoding.dna) == encoding.ids ? 0 : 1;
    });
    DOCTEST_CHECK(wrong == 0);
}

DOCTEST_TEST_CASE("pieces: lengths, N and the vocabulary list") {
    const DnaTokenizer tokenizer = small_tokenizer();
    DOCTEST_CHECK(tokenizer.vocab_size() == 512);
    DOCTEST_CHECK(tokenizer.piece(4) == "[MASK]");
    DOCTEST_CHECK(tokenizer.piece_length(4) == 0);
    DOCTEST_CHECK(tokenizer.piece(511) == "N");
    DOCTEST_CHECK(tokenizer.piece_length(127) == 4);
    DOCTEST_CHECK(tokenizer.has_n(511));
    DOCTEST_CHECK(tokenizer.has_n(tokenizer::special::unk));
    DOCTEST_CHECK_FALSE(tokenizer.has_n(127));
    DOCTEST_CHECK_FALSE(tokenizer.has_n(tokenizer::special::mask));
    DOCTEST_CHECK(tokenizer.vocabulary_text() == read_file(test_data("tokenizer/small.vocab")));
    DOCTEST_CHECK(tokenizer.serialized() == read_file(test_data("tokenizer/small.model")));
}

DOCTEST_TEST_CASE("load: what is no DNA tokenizer is refused with the reason") {
    const auto message = [](const std::string& name) {
        const auto path = test_data("tokenizer/malformed/" + name);
        const std::string text = message_of<InputError>([&] { DnaTokenizer::load(path); });
        DOCTEST_REQUIRE(text.starts_with(path.string() + ": "));
        return text.substr(path.string().size() + 2);
    };
    const std::string damaged =
        "is not a SentencePiece model, or a damaged one; make the tokenizer with train-tokenizer";
    DOCTEST_CHECK(message("truncated.model") == damaged);
    DOCTEST_CHECK(message("text.model") == damaged);
    DOCTEST_CHECK(message("empty.model") == damaged);
    DOCTEST_CHECK(message("missing.model") == "no such file");
    DOCTEST_CHECK(message("default_ids.model") ==
                  "id 0 is <unk> where [PAD] belongs; make the tokenizer with train-tokenizer");
    DOCTEST_CHECK(message("no_mask.model").starts_with("id 4 is "));
    DOCTEST_CHECK(message("no_n.model") ==
                  "does not encode N as one piece of its own; make the tokenizer with train-tokenizer");
    DOCTEST_CHECK(
        message("dummy_prefix.model") ==
        "id 19 is '\u2581', which does not spell A C G T N; make the tokenizer with train-tokenizer");
}
