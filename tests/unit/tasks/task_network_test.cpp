// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tasks/task_network.hpp"

#include "support/testing.hpp"
#include "unit/tasks/bin_examples.hpp"
#include "unit/tasks/tiny_task.hpp"

#include "bigbird/core/rng.hpp"

#include <string>

using namespace bigbird;
using namespace bigbird::testing;
using tasks::batched_logits;
using tasks::encode_window;
using tasks::EncodedWindow;
using tasks::Pooling;
using tokenizer::DnaTokenizer;

namespace {

std::vector<tasks::EncodedWindow> random_windows(const tasks::TaskNetwork& network, std::int64_t count) {
    Rng rng(3);
    std::vector<tasks::EncodedWindow> windows;
    for (std::int64_t i = 0; i < count; ++i) {
        windows.push_back(
            network.encode(random_dna(rng.between(20, 900), static_cast<std::uint64_t>(i)), i % 2 == 1));
    }
    return windows;
}

/// The usual size: two layers of 128, blocks of 64.
model::BigBirdConfig usual_config(const std::string& preset) {
    model::BigBirdConfig config = model::preset(preset);
    config.vocab_size = 512;
    config.num_labels = 5;
    return config;
}

std::shared_ptr<tasks::TaskNetwork> some_bins(model::BigBirdConfig config) {
    config.classifier_head = "bins";
    const bins::Grid grid{.bin = 20, .window_bins = 40, .margin_bins = 2};
    return tasks::bigbird_bins(tiny_network(config, 1), small_tokenizer(), grid, {});
}

}  // namespace

DOCTEST_TEST_CASE("task_network: a window's logits do not depend on the batch") {
    for (const Pooling pooling : {Pooling::cls, Pooling::mean, Pooling::centre}) {
        const auto network = tiny_windows(tiny_config(3), 1, pooling, {-400, 500});
        const auto windows = random_windows(*network, 40);
        const at::Tensor together = batched_logits(*network, windows, 1 << 20);
        DOCTEST_REQUIRE(together.sizes() == at::IntArrayRef({40, 1, 3}));
        DOCTEST_CHECK(together.std().item<double>() > 0.01);
        std::int64_t told = 0;
        const at::Tensor alone =
            batched_logits(*network, windows, 1, [&](std::int64_t some) { told += some; });
        DOCTEST_CHECK(told == 40);
        DOCTEST_CHECK((together - alone).abs().max().item<double>() < 1e-5);
    }
}

DOCTEST_TEST_CASE("task_network: a window's place among the windows changes no bit of its logits") {
    const std::vector<std::shared_ptr<tasks::TaskNetwork>> networks{
        tiny_windows(usual_config("tiny"), 1, Pooling::cls),
        tiny_windows(usual_config("tiny-modern"), 1, Pooling::mean),
        tiny_windows(usual_config("tiny"), 1, Pooling::centre, {-400, 500}), small_base_bins(1),
        some_bins(usual_config("tiny"))};
    for (const auto& network : networks) {
        DOCTEST_CAPTURE(&network - networks.data());
        std::vector<tasks::EncodedWindow> windows;
        const bool bases = !network->reads_tokens();
        for (std::uint64_t i = 0; i < 19; ++i) {
            const std::int64_t length = bases ? 160 : 800;
            std::string dna = random_dna(length, i);
            if (!bases) dna.replace(0, 40 * i, std::string(40 * i, 'N'));  // fewer tokens, fewer blocks
            windows.push_back(network->encode(dna, false));
        }
        const at::Tensor all = batched_logits(*network, windows, 1 << 20);
        for (const std::size_t first : {std::size_t{0}, std::size_t{3}, std::size_t{18}}) {
            for (const std::size_t count : {std::size_t{1}, std::size_t{2}, std::size_t{7}}) {
                const auto some = std::span(windows).subspan(first, std::min(count, windows.size() - first));
                DOCTEST_CHECK(at::equal(batched_logits(*network, some, 1 << 20),
                                        all.narrow(0, static_cast<std::int64_t>(first), std::ssize(some))));
            }
        }
        std::ranges::reverse(windows);
        DOCTEST_CHECK(at::equal(batched_logits(*network, windows, 1 << 20), all.flip(0)));
    }
}

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
    tasks::mark_anchor(window, tokenizer, 290, 310);
    std::int64_t base = 0;
    for (std::int32_t i = 1; i + 1 < std::ssize(window.ids); ++i) {
        const std::int64_t next = base + tokenizer.piece_length(window.ids[static_cast<std::size_t>(i)]);
        const bool marked = i >= window.marked_begin && i < window.marked_end;
        DOCTEST_CHECK(marked == (base < 310 && next > 290));
        base = next;
    }
    EncodedWindow front = encode_window(dna.substr(0, 100) + std::string(500, 'N'), tokenizer, 4096);
    tasks::mark_anchor(front, tokenizer, 290, 310);
    DOCTEST_CHECK(front.marked_begin == std::ssize(front.ids) - 2);
    DOCTEST_CHECK(front.marked_end == std::ssize(front.ids) - 1);
    EncodedWindow back = encode_window(std::string(500, 'N') + dna.substr(0, 100), tokenizer, 4096);
    tasks::mark_anchor(back, tokenizer, 290, 310);
    DOCTEST_CHECK(back.marked_begin == 1);
    DOCTEST_CHECK(back.marked_end == 2);
}
