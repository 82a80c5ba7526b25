// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/tokenizer_files.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/formats/json_file.hpp"

using namespace bigbird;
using namespace bigbird::testing;
using tokenizer::DnaTokenizer;

DOCTEST_TEST_CASE("tokenizer_files: a folder from which either form is read back") {
    const TempDir folder;
    const auto ours = DnaTokenizer::load(test_data("tokenizer/small.model"));
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
