// SPDX-License-Identifier: Apache-2.0
// The fixtures were made by Python's sentencepiece and spm_encode: scripts/checks/make_tokenizer_fixtures.py.
// kmers.tsv holds what transformers' AutoTokenizer makes of the files that are written here:
// scripts/checks/make_kmer_fixtures.py.
#include "bigbird/tokenizer/tokenizer.hpp"

#include "support/small_tokenizer.hpp"
#include "support/temp_dir.hpp"
#include "support/testing.hpp"
#include "unit/tokenizer/bpe_oracle.hpp"

#include "bigbird/core/check.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/core/nucleotide.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/tokenizer/formats/hf_tokenizer.hpp"
#include "bigbird/tokenizer/formats/sentencepiece_model.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

using namespace bigbird;
using namespace bigbird::testing;

using tokenizer::DnaTokenizer, tokenizer::InputSpec, tokenizer::kmer_tokenizer, tokenizer::ModelPiece,
    tokenizer::PieceKind, tokenizer::SentencePieceModel;

namespace {

struct EncodedText {
    std::string name, dna;
    std::vector<std::int32_t> ids;
};

std::vector<EncodedText> read_encodings() {
    std::vector<EncodedText> encodings;
    std::istringstream lines(read_file(test_data("tokenizer/encodings.tsv")));
    for (std::string line; std::getline(lines, line);) {
        EncodedText encoding;
        std::istringstream fields(line);
        std::getline(fields, encoding.name, '\t');
        std::getline(fields, encoding.dna, '\t');
        for (std::int32_t id = 0; fields >> id;)
            encoding.ids.push_back(id);
        encodings.push_back(std::move(encoding));
    }
    return encodings;
}

std::string normalised(std::string dna) {
    std::transform(dna.begin(), dna.end(), dna.begin(), normalised_base);
    return dna;
}

}  // namespace

DOCTEST_TEST_CASE("encode: the ids of Python's sentencepiece and of spm_encode") {
    const DnaTokenizer tokenizer = small_tokenizer();
    const auto encodings = read_encodings();
    DOCTEST_REQUIRE(encodings.size() > 20);
    for (const EncodedText& encoding : encodings) {
        DOCTEST_CAPTURE(encoding.name);
        DOCTEST_CHECK(tokenizer.encode(encoding.dna) == encoding.ids);
    }
}

DOCTEST_TEST_CASE("decode: gives the normalised sequence back, special pieces spell nothing") {
    const DnaTokenizer tokenizer = small_tokenizer();
    for (const EncodedText& encoding : read_encodings()) {
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

namespace {

std::string refusal_of(const SentencePieceModel& model) {
    const std::string what =
        message_of<InputError>([&] { DnaTokenizer::from_serialized(tokenizer::serialize(model), "m"); });
    const std::string tail = "; make the tokenizer with train-tokenizer";
    DOCTEST_REQUIRE(what.starts_with("m: "));
    DOCTEST_CHECK(what.ends_with(tail));
    return what.substr(3, what.size() - 3 - tail.size());
}

}  // namespace

DOCTEST_TEST_CASE("load: special pieces have their ids, names and kinds") {
    SentencePieceModel model = small_model();
    model.pieces[2].text = "<s>";
    DOCTEST_CHECK(refusal_of(model) == "id 2 is <s> where [CLS] belongs");
    model = small_model();
    model.pieces[4].kind = PieceKind::normal;
    DOCTEST_CHECK(refusal_of(model) == "id 4 is [MASK] of the wrong kind where [MASK] belongs");
    model = small_model();
    model.pieces[1].kind = PieceKind::control;
    DOCTEST_CHECK(refusal_of(model) == "id 1 is [UNK] of the wrong kind where [UNK] belongs");
    model.pieces.resize(1);
    DOCTEST_CHECK(refusal_of(model) == "id 1 is nothing where [UNK] belongs");
}

DOCTEST_TEST_CASE("load: other pieces spell A C G T N, each of which is one") {
    SentencePieceModel model = small_model();
    model.pieces[300].text = "ACGU";
    DOCTEST_CHECK(refusal_of(model) == "id 300 is 'ACGU', which does not spell A C G T N");
    model = small_model();
    model.pieces[300].kind = PieceKind::control;
    DOCTEST_CHECK(refusal_of(model).starts_with("id 300 is '"));
    for (const char letter : std::string("ACGTN")) {
        model = small_model();
        std::erase_if(model.pieces,
                      [&](const ModelPiece& piece) { return piece.text == std::string(1, letter); });
        DOCTEST_CHECK(refusal_of(model) ==
                      std::string("does not encode ") + letter + " as one piece of its own");
    }
}

DOCTEST_TEST_CASE("load: from a file, from bytes, from a folder with either file, or not at all") {
    const TempDir folder;
    const std::string bytes = read_file(test_data("tokenizer/small.model"));
    const std::string dna = "GATTACAGATTACANNACGT";
    const auto expected = small_tokenizer().encode(dna);
    DOCTEST_CHECK(DnaTokenizer::from_serialized(bytes, "m").encode(dna) == expected);
    DOCTEST_CHECK(message_of<InputError>([&] { DnaTokenizer::load(folder.path()); }) ==
                  (folder / "tokenizer.model").string() + ": no such file");
    write_file(folder / "tokenizer.json", read_file(test_data("tokenizer/hf/gena_like.json")));
    DOCTEST_CHECK(DnaTokenizer::load(folder.path()).file_name() == std::string("tokenizer.json"));
    write_file(folder / "tokenizer.model", bytes);
    DOCTEST_CHECK(DnaTokenizer::load(folder.path()).file_name() == std::string("tokenizer.model"));
    DOCTEST_CHECK(message_of<InputError>([] { DnaTokenizer::from_serialized("{\"model\": ", "t.json"); }) ==
                  "t.json: is not a JSON file, or a damaged one");
}

DOCTEST_TEST_CASE("pieces: ids outside the vocabulary are a mistake, lengths and letters belong together") {
    const DnaTokenizer tokenizer = small_tokenizer();
    for (const std::int32_t id : {-1, 512}) {
        DOCTEST_CHECK_THROWS_AS(static_cast<void>(tokenizer.piece(id)), std::out_of_range);
        DOCTEST_CHECK_THROWS_AS(static_cast<void>(tokenizer.piece_length(id)), std::out_of_range);
        DOCTEST_CHECK_THROWS_AS(static_cast<void>(tokenizer.has_n(id)), std::out_of_range);
    }
    for (std::int32_t id = tokenizer::special::count; id < tokenizer.vocab_size(); ++id) {
        const std::string& piece = tokenizer.piece(id);
        DOCTEST_CHECK(tokenizer.piece_length(id) == static_cast<std::int32_t>(piece.size()));
        DOCTEST_CHECK(tokenizer.has_n(id) == (piece.find('N') != std::string::npos));
    }
}

DOCTEST_TEST_CASE("pieces: a network's input needs all five special ones, and is told which one is missing") {
    DOCTEST_CHECK_NOTHROW(small_tokenizer().require_special_pieces());
    const std::string json = read_file(test_data("tokenizer/hf/gena_like.json"));
    DOCTEST_CHECK_NOTHROW(DnaTokenizer::from_serialized(json, "t.json").require_special_pieces());
    for (const std::string name : {"[PAD]", "[CLS]", "[SEP]", "[MASK]"}) {
        std::string without = json;
        for (std::size_t at = 0; (at = without.find('"' + name + '"', at)) != std::string::npos;)
            without.replace(at + 2, 1, "x");
        const auto tokenizer = DnaTokenizer::from_serialized(without, "t.json");
        DOCTEST_CHECK(message_of<InputError>([&] { tokenizer.require_special_pieces(); }) ==
                      "the tokenizer has no " + name +
                          ", which a network needs; make one with train-tokenizer");
    }
}

DOCTEST_TEST_CASE("encode: spans tell the letters of the sequence as it was given") {
    const DnaTokenizer tokenizer = small_tokenizer();
    for (const EncodedText& encoding : read_encodings()) {
        const auto traced = tokenizer.encode_with_spans(encoding.dna);
        DOCTEST_CAPTURE(encoding.name);
        DOCTEST_CHECK(traced.ids == encoding.ids);
        DOCTEST_CHECK(spans_cover(traced, encoding.dna.size()));
        std::string spelt;
        for (const std::int32_t id : traced.ids)
            spelt += tokenizer.piece(id);
        DOCTEST_CHECK(spelt == normalised(encoding.dna));
    }
    DOCTEST_CHECK(tokenizer.encode("").empty());
    DOCTEST_CHECK(tokenizer.encode_with_spans("").spans.empty());
}

DOCTEST_TEST_CASE("tokenizer: a tokenizer.json without [UNK] encodes, and a network refuses it") {
    const auto read = DnaTokenizer::from_serialized(
        R"({"model": {"type": "BPE", "unk_token": "?", "vocab": {"?": 0, "A": 1}, "merges": []}})", "t.json");
    DOCTEST_CHECK(read.encode("AA").size() == 2);
    DOCTEST_CHECK(read.special_ids().unk == -1);
    DOCTEST_CHECK_THROWS_AS(read.require_special_pieces(), InputError);
}

DOCTEST_TEST_CASE("load: a folder's tokenizer.model that is a link to itself is an input error") {
    const TempDir folder;
    std::filesystem::create_symlink("tokenizer.model", folder / "tokenizer.model");
    DOCTEST_CHECK(message_of<InputError>([&] { DnaTokenizer::load(folder.path()); }) ==
                  (folder / "tokenizer.model").string() +
                      ": cannot be read: Too many levels of symbolic links");
}

DOCTEST_TEST_CASE("tokenizer_files: a folder from which either form is read back") {
    const TempDir folder;
    const auto ours = small_tokenizer();
    tokenizer::write_tokenizer_files(ours, 512, folder.path());
    DOCTEST_CHECK(read_file(folder / "tokenizer.model") == read_file(test_data("tokenizer/small.model")));
    DOCTEST_CHECK(read_json(folder / "tokenizer_config.json")["model_max_length"] == 512);
    const auto again = DnaTokenizer::load(folder / "tokenizer.json");
    DOCTEST_CHECK(again.special_ids() == tokenizer::SpecialIds{});
    DOCTEST_CHECK(again.vocab_size() == ours.vocab_size());
    const std::string dna = "acgtuGATTACARYNNN";
    DOCTEST_CHECK(again.encode(dna) == ours.encode(dna));
    DOCTEST_CHECK(again.encode_with_spans(dna).spans == ours.encode_with_spans(dna).spans);
    for (std::int32_t id = 0; id < ours.vocab_size(); ++id) {
        DOCTEST_CHECK(again.piece(id) == ours.piece(id));
        DOCTEST_CHECK(again.piece_length(id) == ours.piece_length(id));
        DOCTEST_CHECK(again.has_n(id) == ours.has_n(id));
    }
    DOCTEST_CHECK(DnaTokenizer::load(folder.path()).file_name() == std::string("tokenizer.model"));
    std::filesystem::remove(folder / "tokenizer.model");
    DOCTEST_CHECK(DnaTokenizer::load(folder.path()).file_name() == std::string("tokenizer.json"));
}

DOCTEST_TEST_CASE("tokenizer_files: a Hugging Face tokenizer keeps its form and its ids") {
    const TempDir folder;
    const auto gena = DnaTokenizer::load(test_data("tokenizer/hf/gena_like.json"));
    DOCTEST_CHECK(gena.special_ids() == tokenizer::SpecialIds{3, 0, 1, 2, 4});
    tokenizer::write_tokenizer_files(gena, 4096, folder.path());
    DOCTEST_CHECK(read_file(folder / "tokenizer.json") ==
                  read_file(test_data("tokenizer/hf/gena_like.json")));
    DOCTEST_CHECK_FALSE(std::filesystem::exists(folder / "tokenizer.model"));
    const Json config = read_json(folder / "tokenizer_config.json");
    DOCTEST_CHECK(config["added_tokens_decoder"]["3"]["content"] == "[PAD]");
    DOCTEST_CHECK(config["mask_token"] == "[MASK]");
}

DOCTEST_TEST_CASE(
    "tokenizer_files: tokens that transformers added to tokenizer.json go before tokenizer.model") {
    const TempDir folder;
    const auto ours = small_tokenizer();
    tokenizer::write_tokenizer_files(ours, 512, folder.path());
    Json json = read_json(folder / "tokenizer.json");
    json["added_tokens"].push_back(
        {{"id", 512}, {"content", "TATAAA"}, {"special", false}, {"normalized", true}});
    write_json(folder / "tokenizer.json", json, Overwrite::allow);
    const auto extended = DnaTokenizer::load(folder.path());
    DOCTEST_CHECK(extended.vocab_size() == 513);
    DOCTEST_CHECK(extended.encode("tataaa") == std::vector<std::int32_t>{512});
}

DOCTEST_TEST_CASE("kmer_tokenizer: AutoTokenizer gives our ids between [CLS] and [SEP]") {
    std::istringstream lines(read_file(test_data("tokenizer/hf/kmers.tsv")));
    int count = 0;
    for (std::string k, text, ids, line; std::getline(lines, line); ++count) {
        std::istringstream fields(line);
        std::getline(fields, k, '\t');
        std::getline(fields, text, '\t');
        std::getline(fields, ids, '\t');
        std::string ours = "2";
        for (const std::int32_t id : kmer_tokenizer(std::stoi(k)).encode(text))
            ours += " " + std::to_string(id);
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
            DOCTEST_CHECK(spans_cover(encoding, dna.size()));
        }
    }
    const std::vector<std::int32_t> special{0, 2, 5, 4, 1, 3}, outside{10};
    DOCTEST_CHECK(kmer_tokenizer(1).decode(special) == "A");
    DOCTEST_CHECK(message_of<ConfigError>([&] { static_cast<void>(kmer_tokenizer(1).decode(outside)); }) ==
                  "id 10 lies outside the tokenizer's vocabulary of 10");
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
    DOCTEST_CHECK_FALSE(kmer_length(small_tokenizer()));
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

namespace {

std::string refusal(const InputSpec& spec) {
    return message_of<ConfigError>([&] { static_cast<void>(spec.open()); });
}

}  // namespace

DOCTEST_TEST_CASE("input_spec: opens the tokenizer that it names") {
    const auto k_of = [](const InputSpec& spec) { return tokenizer::kmer_length(spec.open()); };
    DOCTEST_CHECK(k_of({.kmer_length = 1}) == 1);
    DOCTEST_CHECK(k_of({.kmer_length = 3}) == 3);
    const InputSpec tokens{.tokenizer = test_data("tokenizer/small.model")};
    DOCTEST_CHECK(tokens.open().vocab_size() == 512);
    DOCTEST_CHECK(tokens.names_tokenizer());
    DOCTEST_CHECK(InputSpec{.kmer_length = 1}.names_tokenizer());
    DOCTEST_CHECK_FALSE(InputSpec{}.names_tokenizer());
}

DOCTEST_TEST_CASE("input_spec: says what is missing") {
    DOCTEST_CHECK(refusal({}) == "--tokenizer is needed: a model, bases or kmers:K, such as kmers:6");
    DOCTEST_CHECK(refusal({.kmer_length = 13}) == "k-mers have 1 to 12 letters, not 13");
}

DOCTEST_TEST_CASE("encode: a sequence longer than SentencePiece's training limit") {
    const DnaTokenizer tokenizer = small_tokenizer();
    const auto encodings = read_encodings();
    const auto window = std::find_if(encodings.begin(), encodings.end(),
                                     [](const EncodedText& e) { return e.dna.size() == 8000; });
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
