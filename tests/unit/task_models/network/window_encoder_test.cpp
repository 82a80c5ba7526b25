// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/network/window_encoder.hpp"

#include "support/testing.hpp"
#include "unit/task_models/tiny_task.hpp"

#include <string>

using namespace bigbird;
using namespace bigbird::testing;
using task_models::encode_window;
using task_models::EncodedWindow;
using tokenizer::DnaTokenizer;

DOCTEST_TEST_CASE("window_encoder: [CLS] pieces [SEP]") {
    const DnaTokenizer tokenizer = small_tokenizer();
    const std::string dna = random_dna(500, 1);
    const EncodedWindow window = encode_window(dna, tokenizer, 4096);
    std::vector<std::int32_t> expected = tokenizer.encode(dna);
    expected.insert(expected.begin(), tokenizer::special::cls);
    expected.push_back(tokenizer::special::sep);
    DOCTEST_CHECK(window.ids == expected);
    DOCTEST_CHECK_FALSE(window.truncated);
}

DOCTEST_TEST_CASE("window_encoder: outer N are left out, inner N stay") {
    const DnaTokenizer tokenizer = small_tokenizer();
    const std::string core = random_dna(100, 2) + "NNN" + random_dna(97, 3);
    const EncodedWindow bare = encode_window(core, tokenizer, 4096);
    const EncodedWindow padded =
        encode_window(std::string(700, 'N') + core + std::string(100, 'N'), tokenizer, 4096);
    DOCTEST_CHECK(padded.ids == bare.ids);
    DOCTEST_CHECK(tokenizer.decode(padded.ids) == core);
}

DOCTEST_TEST_CASE("window_encoder: nothing but N has no ids") {
    const DnaTokenizer tokenizer = small_tokenizer();
    DOCTEST_CHECK(encode_window("NNNNNNNN", tokenizer, 4096).all_n());
    DOCTEST_CHECK(encode_window("", tokenizer, 4096).all_n());
    DOCTEST_CHECK_FALSE(encode_window("NNNANNNN", tokenizer, 4096).all_n());
}

DOCTEST_TEST_CASE("window_encoder: a long window keeps the pieces about its middle base") {
    const DnaTokenizer tokenizer = small_tokenizer();
    const std::string dna = random_dna(4000, 4);
    const EncodedWindow window = encode_window(dna, tokenizer, 128);
    DOCTEST_CHECK(window.truncated);
    DOCTEST_REQUIRE(window.ids.size() == 128);
    const std::string kept = tokenizer.decode(window.ids);
    const std::size_t begin = dna.find(kept);
    DOCTEST_REQUIRE(begin != std::string::npos);
    const auto left = 2000 - static_cast<std::int64_t>(begin);
    const auto right = static_cast<std::int64_t>(begin + kept.size()) - 2000;
    DOCTEST_CHECK(left > 100);
    DOCTEST_CHECK(std::abs(left - right) < 100);

    const auto whole = static_cast<std::int64_t>(tokenizer.encode(dna).size()) + 2;
    DOCTEST_CHECK_FALSE(encode_window(dna, tokenizer, whole).truncated);
    DOCTEST_CHECK(encode_window(dna, tokenizer, whole - 1).truncated);
}

DOCTEST_TEST_CASE("window_encoder: what one side lacks the other side gets") {
    const DnaTokenizer tokenizer = small_tokenizer();
    const std::string dna = random_dna(2000, 5);
    // the sequence begins just before the middle of the window, then ends just behind it
    const EncodedWindow right = encode_window(std::string(1990, 'N') + dna, tokenizer, 64);
    DOCTEST_CHECK(right.ids.size() == 64);
    DOCTEST_CHECK(dna.starts_with(tokenizer.decode(right.ids)));
    const EncodedWindow left = encode_window(dna + std::string(1990, 'N'), tokenizer, 64);
    DOCTEST_CHECK(left.ids.size() == 64);
    DOCTEST_CHECK(dna.ends_with(tokenizer.decode(left.ids)));
}

DOCTEST_TEST_CASE("window_encoder: the anchor's ids, or the nearest where none is left") {
    const DnaTokenizer tokenizer = small_tokenizer();
    const std::string dna = random_dna(600, 4);
    EncodedWindow window = encode_window(dna, tokenizer, 4096);
    task_models::mark_anchor(window, tokenizer, 290, 310);
    std::int64_t base = 0;
    for (std::int32_t i = 1; i + 1 < std::ssize(window.ids); ++i) {
        const std::int64_t next = base + tokenizer.piece_length(window.ids[static_cast<std::size_t>(i)]);
        const bool marked = i >= window.marked_begin && i < window.marked_end;
        DOCTEST_CHECK(marked == (base < 310 && next > 290));
        base = next;
    }
    EncodedWindow front = encode_window(dna.substr(0, 100) + std::string(500, 'N'), tokenizer, 4096);
    task_models::mark_anchor(front, tokenizer, 290, 310);
    DOCTEST_CHECK(front.marked_begin == std::ssize(front.ids) - 2);
    DOCTEST_CHECK(front.marked_end == std::ssize(front.ids) - 1);
    EncodedWindow back = encode_window(std::string(500, 'N') + dna.substr(0, 100), tokenizer, 4096);
    task_models::mark_anchor(back, tokenizer, 290, 310);
    DOCTEST_CHECK(back.marked_begin == 1);
    DOCTEST_CHECK(back.marked_end == 2);
}
