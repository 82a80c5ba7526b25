// SPDX-License-Identifier: Apache-2.0
// kmers.tsv holds what transformers' AutoTokenizer makes of the files that are written here:
// scripts/checks/make_kmer_fixtures.py.
#include "bigbird/tokenizer/kmer_tokenizer.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/check.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/nucleotide.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/tokenizer/formats/kmer_json.hpp"
#include "bigbird/tokenizer/tokenizer_files.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

using namespace bigbird;
using namespace bigbird::testing;
using tokenizer::DnaTokenizer;
using tokenizer::kmer_tokenizer;

namespace {

std::string normalised(std::string dna) {
    std::transform(dna.begin(), dna.end(), dna.begin(), normalised_base);
    return dna;
}

}  // namespace

DOCTEST_TEST_CASE("kmer_tokenizer: AutoTokenizer gives our ids between [CLS] and [SEP]") {
    std::istringstream lines(read_file(test_data("tokenizer/hf/kmers.tsv")));
    int count = 0;
    for (std::string k, text, ids, line; std::getline(lines, line); ++count) {
        std::istringstream fields(line);
        std::getline(fields, k, '\t');
        std::getline(fields, text, '\t');
        std::getline(fields, ids, '\t');
        std::string ours = "2";
        for (const std::int32_t id : kmer_tokenizer(std::stoi(k)).encode(text)) {
            ours += " " + std::to_string(id);
        }
        DOCTEST_CAPTURE(k);
        DOCTEST_CAPTURE(text);
        DOCTEST_CHECK(ours + " 3" == ids);
    }
    DOCTEST_CHECK(count > 60);
}

DOCTEST_TEST_CASE("kmer_tokenizer: pieces, their lengths, N and special ids") {
    const DnaTokenizer tokenizer = kmer_tokenizer(3);
    DOCTEST_CHECK(tokenizer.vocab_size() == 74);
    DOCTEST_CHECK(tokenizer.special_ids() == tokenizer::SpecialIds{});
    DOCTEST_CHECK_NOTHROW(tokenizer.require_special_pieces());
    DOCTEST_CHECK(tokenizer.piece(4) == "[MASK]");
    DOCTEST_CHECK(tokenizer.piece_length(4) == 0);
    DOCTEST_CHECK(tokenizer.piece(73) == "TTT");
    for (std::int32_t id = tokenizer::special::count; id < tokenizer.vocab_size(); ++id) {
        DOCTEST_CHECK(tokenizer.piece_length(id) == static_cast<std::int32_t>(tokenizer.piece(id).size()));
        DOCTEST_CHECK(tokenizer.encode(tokenizer.piece(id)) == std::vector{id});
        DOCTEST_CHECK(tokenizer.has_n(id) == (id == 9));
    }
    DOCTEST_CHECK(tokenizer.has_n(tokenizer::special::unk));
    DOCTEST_CHECK_FALSE(tokenizer.has_n(tokenizer::special::mask));
    DOCTEST_CHECK_THROWS_AS(static_cast<void>(tokenizer.piece(74)), std::out_of_range);
    DOCTEST_CHECK_THROWS_AS(static_cast<void>(tokenizer.vocabulary_text()), std::logic_error);
    DOCTEST_CHECK(kmer_tokenizer(1).vocab_size() == 10);
    DOCTEST_CHECK(kmer_tokenizer(6).vocab_size() == 4106);
    DOCTEST_CHECK(message_of<ConfigError>([] { static_cast<void>(kmer_tokenizer(13)); }) ==
                  "k-mers have 1 to 12 letters, not 13");
}

DOCTEST_TEST_CASE("kmer_tokenizer: decoding gives the normalised sequence back, spans cover it") {
    for (const int k : {1, 3, 6}) {
        const DnaTokenizer tokenizer = kmer_tokenizer(k);
        for (const std::string dna : {"", "N", "gattacaNNuRYACGTACGTAC", "ACGTACGTACGT", "NACGTNNACN"}) {
            const auto encoding = tokenizer.encode_with_spans(dna);
            DOCTEST_CHECK(tokenizer.decode(encoding.ids) == normalised(dna));
            DOCTEST_CHECK(tokenizer.encode(dna) == encoding.ids);
            std::size_t position = 0;
            for (std::size_t i = 0; i < encoding.ids.size(); ++i) {
                DOCTEST_CHECK(encoding.spans[i].begin == position);
                position = encoding.spans[i].end;
            }
            DOCTEST_CHECK(position == dna.size());
        }
    }
    const std::vector<std::int32_t> special{0, 2, 5, 4, 1, 3}, outside{10};
    DOCTEST_CHECK(kmer_tokenizer(1).decode(special) == "A");
    DOCTEST_CHECK(message_of<ConfigError>([&] { static_cast<void>(kmer_tokenizer(1).decode(outside)); }) ==
                  "id 10 lies outside the tokenizer's vocabulary of 10");
}

DOCTEST_TEST_CASE("kmer_tokenizer: the same ids whatever the threads, and on many of them") {
    const DnaTokenizer tokenizer = kmer_tokenizer(6);
    std::string dna;
    for (int i = 0; i < 3000; ++i)
        dna += "GATTACACCGGTNNACGTATCG"[static_cast<std::size_t>(i * i % 22)];
    const auto expected = tokenizer.encode(dna);
    DOCTEST_CHECK(tokenizer.encode(dna, 4) == expected);
    DOCTEST_CHECK(tokenizer.encode_with_spans(dna, 4).ids == expected);
    std::atomic<int> wrong{0};
    parallel_for(100, 4, [&](std::int64_t) { wrong += tokenizer.encode(dna) == expected ? 0 : 1; });
    DOCTEST_CHECK(wrong == 0);
}

DOCTEST_TEST_CASE("kmer_tokenizer: the files of a model folder make the same tokenizer") {
    for (const int k : {1, 3, 6}) {
        const TempDir folder;
        const DnaTokenizer ours = kmer_tokenizer(k);
        tokenizer::write_tokenizer_files(ours, 512, folder.path());
        if (const char* keep = std::getenv("BIGBIRD_WRITE_HF")) {  // for make_kmer_fixtures.py
            const auto kept = std::filesystem::path(keep) / ("kmers_" + std::to_string(k));
            std::filesystem::create_directories(kept);
            tokenizer::write_tokenizer_files(ours, 512, kept);
        }
        DOCTEST_CHECK_FALSE(std::filesystem::exists(folder / "tokenizer.model"));
        const DnaTokenizer again = DnaTokenizer::load(folder.path());
        DOCTEST_CHECK(again.file_name() == std::string("tokenizer.json"));
        DOCTEST_CHECK(again.serialized() == ours.serialized());
        DOCTEST_CHECK(again.vocab_size() == ours.vocab_size());
        const std::string dna = "acgtuGATTACARYNNNACGTACGTA";
        DOCTEST_CHECK(again.encode(dna) == ours.encode(dna));
        DOCTEST_CHECK(kmer_length(again) == k);
    }
    DOCTEST_CHECK_FALSE(kmer_length(DnaTokenizer::load(test_data("tokenizer/small.model"))));
    DOCTEST_CHECK_FALSE(kmer_length(DnaTokenizer::load(test_data("tokenizer/hf/gena_like.json"))));
}

DOCTEST_TEST_CASE("kmer_tokenizer: a changed or damaged file is refused") {
    const std::string whole = tokenizer::kmer_json(2);
    const auto refusal = [](const std::string& text) {
        return message_of<InputError>([&] { DnaTokenizer::from_serialized(text, "t.json"); });
    };
    const std::string other =
        "t.json: has a model of type 'WordLevel', which this program does not understand "
        "in a tokenizer.json of DNA";
    std::string changed = whole;
    changed.replace(changed.find("\"TT\": 25"), 8, "\"TT\": 26");
    DOCTEST_CHECK(refusal(changed) == other);
    changed = whole;
    changed.replace(changed.find("{2}"), 3, "{3}");
    DOCTEST_CHECK(refusal(changed) == other);
    DOCTEST_CHECK(refusal(whole.substr(0, whole.size() / 2)) ==
                  "t.json: is not a JSON file, or a damaged one");
}
