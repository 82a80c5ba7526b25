// SPDX-License-Identifier: Apache-2.0
// The fixtures were made by Hugging Face's tokenizers: scripts/checks/make_hf_fixtures.py.
#include "bigbird/tokenizer/formats/hf_tokenizer.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

#include <algorithm>
#include <sstream>

using namespace bigbird;
using namespace bigbird::testing;
using tokenizer::HfTokenizer;

namespace {

std::string merge(const std::vector<std::int32_t>& ids) {
    std::string text;
    for (const std::int32_t id : ids) {
        text += (text.empty() ? "" : " ") + std::to_string(id);
    }
    return text;
}

}  // namespace

DOCTEST_TEST_CASE("hf_tokenizer: the ids of a tokenizer that Hugging Face trained with GENA-LM's settings") {
    const HfTokenizer tokenizer = HfTokenizer::load(test_data("tokenizer/hf/gena_like.json"));
    DOCTEST_CHECK(tokenizer.vocab_size() == 600);
    std::istringstream lines(read_file(test_data("tokenizer/hf/encodings.tsv")));
    int count = 0;
    for (std::string text, ids, line; std::getline(lines, line); ++count) {
        std::istringstream fields(line);
        std::getline(fields, text, '\t');
        std::getline(fields, ids, '\t');
        DOCTEST_CAPTURE(text);
        std::vector<std::int32_t> ours = tokenizer.encode(text);
        ours.insert(ours.begin(), tokenizer.special_id("[CLS]"));
        ours.push_back(tokenizer.special_id("[SEP]"));
        DOCTEST_CHECK(merge(ours) == ids);
    }
    DOCTEST_CHECK(count > 60);
    DOCTEST_CHECK(tokenizer.decode(tokenizer.encode("GATTACA")) == "GATTACA");
    const auto spans = tokenizer.encode_with_spans(" ACGT" + std::string(15, 'N') + "ACGT ");
    DOCTEST_CHECK(spans.ids == tokenizer.encode("ACGT" + std::string(15, 'N') + "ACGT"));
    DOCTEST_CHECK(std::find(spans.spans.begin(), spans.spans.end(), tokenizer::TextSpan{5, 20}) !=
                  spans.spans.end());
    DOCTEST_CHECK(spans.spans.front().begin == 1);
    DOCTEST_CHECK(spans.spans.back().end == 24);
    DOCTEST_CHECK_THROWS_AS(tokenizer.decode(std::vector<std::int32_t>{600}), ConfigError);
}

DOCTEST_TEST_CASE("hf_tokenizer: what is not understood is refused, not guessed") {
    const TempDir folder;
    const std::string good = read_file(test_data("tokenizer/hf/gena_like.json"));
    const auto message = [&](const std::string& from, const std::string& to) {
        std::string text = good;
        const std::size_t at = text.find(from);
        DOCTEST_REQUIRE(at != std::string::npos);
        write_file(folder / "t.json", text.replace(at, from.size(), to));
        const std::string what = message_of<InputError>([&] { HfTokenizer::load(folder / "t.json"); });
        return what.substr(what.find("t.json: ") + 8);
    };
    const std::string tail = ", which this program does not understand in a tokenizer.json of DNA";
    DOCTEST_CHECK(message("\"Strip\"", "\"NFKC\"") == "has the normalizer 'NFKC'" + tail);
    DOCTEST_CHECK(message("N{10,}", "N{10}") == "has the pattern 'N{10}'" + tail);
    DOCTEST_CHECK(message("\"Isolated\"", "\"Removed\"") == "has the pre_tokenizer 'Split'" + tail);
    DOCTEST_CHECK(message("\"BPE\"", "\"Unigram\"") == "has a model of type 'Unigram'" + tail);
    DOCTEST_CHECK(message("{", "[") == "is not a JSON file, or a damaged one");
    DOCTEST_CHECK(message_of<InputError>([&] {
                      HfTokenizer::load(folder / "none.json");
                  }).find("no such file") != std::string::npos);
}
