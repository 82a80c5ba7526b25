// SPDX-License-Identifier: Apache-2.0
// encodings.tsv holds what transformers' AutoTokenizer makes of the files that are written here:
// scripts/checks/make_hf_fixtures.py.
#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/rng.hpp"
#include "bigbird/tokenizer/formats/hf_tokenizer.hpp"
#include "bigbird/tokenizer/tokenizer.hpp"

#include <cstdlib>
#include <sstream>

using namespace bigbird;
using namespace bigbird::testing;
using namespace bigbird::tokenizer;

namespace {

void write_files(const std::filesystem::path& folder) {
    const auto model =
        parse_sentencepiece_model(read_file(test_data("tokenizer/small.model")), "small.model");
    write_json(folder / "tokenizer.json", tokenizer_json(model), Overwrite::allow);
    write_json(folder / "tokenizer_config.json", tokenizer_config_json({}, 4096), Overwrite::allow);
}

}  // namespace

DOCTEST_TEST_CASE("hf_writer: AutoTokenizer gives our ids between [CLS] and [SEP]") {
    const auto tokenizer = DnaTokenizer::load(test_data("tokenizer/small.model"));
    std::istringstream lines(read_file(test_data("tokenizer/hf/encodings.tsv")));
    int count = 0;
    for (std::string text, ids, line; std::getline(lines, line); ++count) {
        std::istringstream fields(line);
        std::getline(fields, text, '\t');
        std::getline(fields, ids, '\t');
        std::getline(fields, ids, '\t');
        std::string ours = "2";
        for (const std::int32_t id : tokenizer.encode(text)) {
            ours += " " + std::to_string(id);
        }
        DOCTEST_CAPTURE(text);
        DOCTEST_CHECK(ours + " 3" == ids);
    }
    DOCTEST_CHECK(count > 60);
}

DOCTEST_TEST_CASE("hf_writer: the files, read back, encode as the model does") {
    const TempDir folder;
    write_files(folder.path());
    if (const char* keep = std::getenv("BIGBIRD_WRITE_HF")) {
        write_files(keep);  // for make_hf_fixtures.py
    }
    const auto ours = DnaTokenizer::load(test_data("tokenizer/small.model"));
    const auto theirs = HfTokenizer::load(folder / "tokenizer.json");
    Rng rng(12);
    int wrong = 0;
    for (int round = 0; round < 2000; ++round) {
        std::string text;
        const auto unit = static_cast<std::size_t>(rng.between(1, 6));
        const double repeat = rng.uniform();
        while (static_cast<std::int64_t>(text.size()) < round % 300 + 1) {
            text += text.size() >= unit && rng.uniform() < repeat ? text[text.size() - unit]
                                                                  : "ACGTNacgu"[rng.between(0, 8)];
        }
        wrong += ours.encode(text) != theirs.encode(text);
    }
    DOCTEST_CHECK(wrong == 0);
    const Json config = read_json(folder / "tokenizer_config.json");
    DOCTEST_CHECK(config["model_max_length"] == 4096);
    DOCTEST_CHECK(config["added_tokens_decoder"]["4"]["content"] == "[MASK]");
}
