// SPDX-License-Identifier: Apache-2.0
// Fixtures from transformers and numpy themselves: SHA-256 of the int32 array (heads, blocks - 2,
// random_blocks).
#include "bigbird/attention/pattern/pattern.hpp"

#include "support/testing.hpp"

#include "bigbird/attention/pattern/picture.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/checksum.hpp"

#include <png.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

using namespace bigbird::attention;

namespace {

/// Key block -> multiplicity, of one row.
std::map<int, int> row_of(const BlockLayout& layout, int row) {
    std::map<int, int> counts;
    for (const std::size_t i : layout.entries(row)) {
        DOCTEST_CHECK((counts.empty() || counts.rbegin()->first < layout.columns[i]));
        counts.emplace(layout.columns[i], layout.multiplicity[i]);
    }
    return counts;
}

std::map<int, int> everything(int blocks) {
    std::map<int, int> counts;
    for (int block = 0; block < blocks; ++block)
        counts[block] = 1;
    return counts;
}

}  // namespace

DOCTEST_TEST_CASE("pattern: a uniform row holds the globals, its window and exactly r more, all once") {
    const PatternSpec spec;
    for (const int blocks : {12, 13, 16, 64}) {
        const BlockLayout layout = make_layout(spec, blocks, 1, 2);
        DOCTEST_REQUIRE(layout.rows() == blocks);
        DOCTEST_CHECK(row_of(layout, 0) == everything(blocks));
        DOCTEST_CHECK(row_of(layout, blocks - 1) == everything(blocks));
        for (int row = 1; row < blocks - 1; ++row) {
            const auto counts = row_of(layout, row);
            const std::set<int> fixed{0, blocks - 1, row - 1, row, row + 1};
            DOCTEST_CHECK(std::ranges::all_of(
                fixed, [&](int block) { return counts.contains(block); }));
            DOCTEST_CHECK(std::ranges::all_of(counts, [](const auto& item) { return item.second == 1; }));
            DOCTEST_CHECK(counts.size() == fixed.size() + 3);
        }
    }
}

DOCTEST_TEST_CASE("pattern: up to 5 + 2r blocks every row attends everything") {
    PatternSpec spec;
    for (int blocks = 1; blocks <= 11; ++blocks)
        for (int row = 0; row < blocks; ++row)
            DOCTEST_CHECK(row_of(make_layout(spec, blocks, 0, 0), row) == everything(blocks));
    DOCTEST_CHECK(row_of(make_layout(spec, 12, 0, 0), 5) != everything(12));
    spec.full = true;
    DOCTEST_CHECK(row_of(make_layout(spec, 64, 0, 0), 5) == everything(64));
}

DOCTEST_TEST_CASE(
    "pattern: hf counts block 0 1 + r times in the rows between the globals and draws nothing") {
    PatternSpec spec;
    spec.random_source = RandomSource::hf;
    const BlockLayout layout = make_layout(spec, 16, 0, 0);
    DOCTEST_CHECK(row_of(layout, 0) == everything(16));
    DOCTEST_CHECK(row_of(layout, 1) == std::map<int, int>{{0, 4}, {1, 1}, {2, 1}, {15, 1}});
    DOCTEST_CHECK(row_of(layout, 7) == std::map<int, int>{{0, 4}, {6, 1}, {7, 1}, {8, 1}, {15, 1}});
    DOCTEST_CHECK(row_of(layout, 14) == std::map<int, int>{{0, 4}, {13, 1}, {14, 1}, {15, 1}});
    DOCTEST_CHECK(row_of(layout, 15) == everything(16));
    DOCTEST_CHECK(layout == make_layout(spec, 16, 5, 3));
}

DOCTEST_TEST_CASE("pattern: globals placed first are the paper's leading blocks") {
    PatternSpec spec;
    spec.globals = GlobalPlacement::first;
    const BlockLayout layout = make_layout(spec, 20, 0, 0);
    DOCTEST_CHECK(row_of(layout, 0) == everything(20));
    DOCTEST_CHECK(row_of(layout, 1) == everything(20));
    const auto last = row_of(layout, 19);
    DOCTEST_CHECK(last.size() == 7);  // 2 globals, 2 of the window, 3 random
    for (const int block : {0, 1, 18, 19})
        DOCTEST_CHECK(last.contains(block));
}

DOCTEST_TEST_CASE(
    "pattern: random blocks differ by seed, layer, head and row, and are uniform over what is free") {
    PatternSpec spec;
    const BlockLayout first = make_layout(spec, 64, 0, 0);
    DOCTEST_CHECK(first == make_layout(spec, 64, 0, 0));
    DOCTEST_CHECK(first != make_layout(spec, 64, 1, 0));
    DOCTEST_CHECK(first != make_layout(spec, 64, 0, 1));
    spec.random_seed = 1;
    DOCTEST_CHECK(first != make_layout(spec, 64, 0, 0));

    std::map<int, int> drawn;  // row 10 of 16 blocks: free are 1..8 and 12..14
    const int draws = 4400;
    for (int head = 0; head < draws; ++head)
        for (const auto& [block, count] : row_of(make_layout(spec, 16, 0, head), 10))
            drawn[block] += count;
    double chi_squared = 0;
    for (const int block : {1, 2, 3, 4, 5, 6, 7, 8, 12, 13, 14}) {
        const double expected = draws * 3.0 / 11.0;
        chi_squared += (drawn[block] - expected) * (drawn[block] - expected) / expected;
    }
    DOCTEST_CHECK(chi_squared < 29.6);  // 10 degrees of freedom, p = 0.001
}

DOCTEST_TEST_CASE("pattern: version 1 of the uniform source never changes") {
    const BlockLayout layout = make_layout(PatternSpec{}, 64, 3, 5);
    const auto row = row_of(layout, 20);
    std::vector<int> random;
    for (const auto& item : row)
        if (item.first != 0 && item.first != 63 && std::abs(item.first - 20) > 1)
            random.push_back(item.first);
    DOCTEST_CHECK(random == std::vector<int>{2, 8, 37});
}

DOCTEST_TEST_CASE("pattern: what cannot be is refused") {
    using bigbird::ConfigError;
    PatternSpec even, nothing, hf;
    even.window_blocks = 4;
    DOCTEST_CHECK_THROWS_AS(even.validate(), ConfigError);
    nothing.window_blocks = nothing.random_blocks = nothing.global_blocks = 0;
    DOCTEST_CHECK_THROWS_AS(nothing.validate(), ConfigError);
    hf.random_source = RandomSource::hf;
    hf.globals = GlobalPlacement::first;
    DOCTEST_CHECK_THROWS_AS(hf.validate(), ConfigError);
    DOCTEST_CHECK_NOTHROW(PatternSpec{}.validate());
}

DOCTEST_TEST_CASE("pattern: ETC is leading globals and a window, of any block size") {
    PatternSpec etc;
    etc.block_size = 84;
    etc.globals = GlobalPlacement::first;
    etc.global_blocks = 4;  // 256 global tokens
    etc.random_blocks = 0;
    DOCTEST_CHECK_NOTHROW(etc.validate());
    const BlockLayout layout = make_layout(etc, 20, 0, 0);
    for (int row = 0; row < 4; ++row)
        DOCTEST_CHECK(row_of(layout, row) == everything(20));
    DOCTEST_CHECK(row_of(layout, 10) ==
                  std::map<int, int>{{0, 1}, {1, 1}, {2, 1}, {3, 1}, {9, 1}, {10, 1}, {11, 1}});
}

DOCTEST_TEST_CASE("pattern: seeded picks count on top of what is attended already") {
    PatternSpec spec;
    spec.random_source = RandomSource::seeded;
    DOCTEST_CHECK(row_of(make_layout(spec, 64, 0, 0), 1) ==
                  std::map<int, int>{{0, 1}, {1, 1}, {2, 1}, {63, 1}, {7, 1}, {9, 1}, {14, 1}});
    int twice = 0;  // at 1,024 tokens picks may be the last block, which is global
    for (int head = 0; head < 12; ++head)
        for (int row = 1; row < 15; ++row)
            twice += row_of(make_layout(spec, 16, 0, head), row).at(15) - 1;
    DOCTEST_CHECK(twice == 38);
    PatternSpec hf = spec;
    hf.random_source = RandomSource::hf;
    DOCTEST_CHECK(make_layout(hf.in_training(), 64, 3, 2) == make_layout(spec, 64, 3, 2));
}

namespace {

using Picks = std::vector<std::int32_t>;

struct Fixture {
    std::uint32_t seed;
    bool google;
    int tokens;
    const char* digest;  ///< the first 16 digits
    Picks first, last;   ///< head 0 row 1, head 11 last row
};

const std::vector<Fixture> fixtures{{0, false, 1024, "868d9dcb71bb7057", {9, 14, 7}, {6, 7, 10}},
                                    {0, true, 2048, "b09fda16c53ddb99", {9, 14, 7}, {6, 9, 7}},
                                    {0, false, 3072, "56160b94cb368d64", {9, 14, 7}, {9, 4, 15}},
                                    {0, false, 4096, "c46970d98425a1ce", {9, 14, 7}, {3, 5, 7}},
                                    {1, false, 4096, "9325d87c0513b86d", {5, 6, 7}, {10, 4, 8}},
                                    {2, false, 4096, "1ce28ca45679bafa", {7, 3, 13}, {10, 14, 12}},
                                    {0, false, 768, "66f309a813e347b3", {4, 6, 7}, {3, 5, 6}},
                                    {0, false, 832, "fb4e3f753c04761c", {4, 6, 7}, {5, 9, 2}},
                                    {0, false, 2048, "ab8baf030537d4a1", {4, 6, 7}, {5, 3, 8}},
                                    {1, false, 2048, "1f7640204a8c5f7f", {3, 4, 6}, {8, 4, 1}},
                                    {0, false, 4032, "447364b1de548c74", {4, 6, 7}, {3, 4, 2}}};

std::string little_endian(const Picks& picks) {
    std::string bytes;
    for (const std::int32_t pick : picks)
        for (int shift = 0; shift < 32; shift += 8)
            bytes.push_back(static_cast<char>((static_cast<std::uint32_t>(pick) >> shift) & 0xFF));
    return bytes;
}

}  // namespace

DOCTEST_TEST_CASE("random_plan: the picks of transformers and of the authors' code, bit for bit") {
    for (const Fixture& f : fixtures) {
        DOCTEST_CAPTURE(f.tokens);
        DOCTEST_CAPTURE(f.seed);
        const PatternSpec spec{.random_source = f.google ? RandomSource::google : RandomSource::seeded};
        const Picks picks = random_plan(spec, f.tokens / 64, 12, f.seed);
        DOCTEST_REQUIRE(picks.size() == static_cast<std::size_t>(12 * (f.tokens / 64 - 2) * 3));
        DOCTEST_CHECK(Picks(picks.begin(), picks.begin() + 3) == f.first);
        DOCTEST_CHECK(Picks(picks.end() - 3, picks.end()) == f.last);
        DOCTEST_CHECK(bigbird::sha256_of_text(little_endian(picks)).substr(0, 16) == f.digest);
    }
}

DOCTEST_TEST_CASE("random_plan: a model that is too short for its plan is refused") {
    const PatternSpec spec{.plan_tokens = 2048};
    DOCTEST_CHECK_THROWS_AS(random_plan(spec, 64, 1, 0), bigbird::ConfigError);
}

namespace {

PatternSpec longformer(int block, int window, int dilation, int globals) {
    PatternSpec spec;
    spec.kind = PatternKind::longformer;
    spec.block_size = block;
    spec.window_tokens = window;
    spec.dilation = dilation;
    spec.global_tokens = globals;
    return spec;
}

/// All pairs of tokens that a layout attends.
std::set<std::pair<int, int>> pairs_of(const BlockLayout& layout, int block) {
    std::set<std::pair<int, int>> pairs;
    for (int row = 0; row < layout.rows(); ++row) {
        for (const std::size_t i : layout.entries(row)) {
            for (int token = 0; token < block * block; ++token) {
                const bool whole = layout.mask[i] < 0;
                if (whole ||
                    layout.masks[static_cast<std::size_t>(layout.mask[i])][static_cast<std::size_t>(token)] !=
                        0)
                    pairs.emplace(row * block + token / block, layout.columns[i] * block + token % block);
            }
        }
    }
    return pairs;
}

}  // namespace

DOCTEST_TEST_CASE("token_pattern: sliding, dilated and global windows, token by token") {
    for (const auto& [window, dilation, globals] :
         {std::tuple(5, 1, 0), std::tuple(3, 3, 0), std::tuple(4, 1, 6), std::tuple(0, 1, 1),
          std::tuple(9, 2, 4)}) {
        const int block = 4, blocks = 9;
        const BlockLayout layout = make_layout(longformer(block, window, dilation, globals), blocks, 0, 0);
        std::set<std::pair<int, int>> wanted;
        for (int i = 0; i < block * blocks; ++i) {
            for (int j = 0; j < block * blocks; ++j) {
                const int distance = i < j ? j - i : i - j;
                const bool near = distance <= window * dilation && distance % dilation == 0;
                if (near || i < globals || j < globals) wanted.emplace(i, j);
            }
        }
        DOCTEST_CHECK(pairs_of(layout, block) == wanted);
    }
}

DOCTEST_TEST_CASE("token_pattern: masks do not grow with the length, nor does a row") {
    const PatternSpec spec = longformer(16, 40, 1, 3);
    const BlockLayout small = make_layout(spec, 20, 0, 0), large = make_layout(spec, 80, 0, 0);
    DOCTEST_CHECK(small.masks.size() == large.masks.size());
    DOCTEST_CHECK(large.columns.size() < 5 * small.columns.size());
}

DOCTEST_TEST_CASE("token_pattern: windows behind blocks of global tokens") {
    for (const auto& [front, blocks, window, dilation] :
         {std::tuple(0, 6, 5, 1), std::tuple(1, 6, 3, 3), std::tuple(2, 5, 40, 1), std::tuple(3, 1, 2, 1)}) {
        const int block = 4;
        const BlockLayout layout =
            windows_behind_front(longformer(block, window, dilation, 7), front, blocks);
        DOCTEST_CHECK(layout.rows() == front + blocks);
        std::set<std::pair<int, int>> wanted;
        for (int i = 0; i < block * (front + blocks); ++i) {
            for (int j = 0; j < block * (front + blocks); ++j) {
                const int distance = std::abs(i - j);
                const bool near = distance <= window * dilation && distance % dilation == 0;
                if (j < front * block || (i >= front * block && near)) wanted.emplace(i, j);
            }
        }
        DOCTEST_CHECK(pairs_of(layout, block) == wanted);
    }
    DOCTEST_CHECK(windows_behind_front(longformer(4, 9, 2, 0), 1, 200).masks ==
                  windows_behind_front(longformer(4, 9, 2, 0), 1, 50).masks);
}

DOCTEST_TEST_CASE("picture: transformers' evaluation, where block 0 counts more") {
    PatternSpec spec;
    spec.random_blocks = 1;
    spec.random_source = RandomSource::hf;
    DOCTEST_CHECK(picture(spec, make_layout(spec, 8, 0, 0)) ==
                  "########\n"
                  "2oo....#\n"
                  "2ooo...#\n"
                  "2.ooo..#\n"
                  "2..ooo.#\n"
                  "2...ooo#\n"
                  "2....oo#\n"
                  "########\n");
}

DOCTEST_TEST_CASE("picture: random blocks are stars, as many as asked for") {
    const PatternSpec spec;
    const BlockLayout layout = make_layout(spec, 16, 0, 0);
    const std::string text = picture(spec, layout);
    DOCTEST_CHECK(std::ranges::count(text, '*') == 14 * 3);
    DOCTEST_CHECK(std::ranges::count(text, 'o') == 14 * 3 - 2);
    const LayoutCost cost = cost_of(spec, layout);
    DOCTEST_CHECK(cost.pairs == 2 * 16 + 2 * 7 + 12 * 8);
    DOCTEST_CHECK(cost.keys_per_query == doctest::Approx(142.0 / 16 * 64));
    DOCTEST_CHECK(cost.share_of_full == doctest::Approx(142.0 / 256));
}

DOCTEST_TEST_CASE("picture: a drawing has a cell a block that is attended") {
    const PatternSpec spec = named_pattern("bigbird");
    const BlockLayout layout = make_layout(spec, 16, 0, 0);
    const std::string svg = svg_picture(spec, layout, "t");
    std::size_t cells = 0;
    for (std::size_t at = svg.find("width='20'"); at != std::string::npos;
         at = svg.find("width='20'", at + 1))
        ++cells;
    DOCTEST_CHECK(cells == layout.columns.size());
    DOCTEST_CHECK(svg.find(">random<") != std::string::npos);
}

DOCTEST_TEST_CASE("picture: named patterns cost what the paper says") {
    const auto pairs = [](const char* name) {
        const PatternSpec spec = named_pattern(name);
        return cost_of(spec, make_layout(spec, 64, 0, 0)).pairs;
    };
    DOCTEST_CHECK(pairs("full") == 64 * 64);
    DOCTEST_CHECK(pairs("window") == 64 * 3 - 2);
    DOCTEST_CHECK(pairs("random") == 64 * 3);
    DOCTEST_CHECK(pairs("random+window") == 64 * 6 - 2);
    DOCTEST_CHECK(pairs("bigbird") == 2 * 64 + 2 * 7 + 60 * 8);
    DOCTEST_CHECK(pairs("sliding") == 64 * 9 - 2 * (1 + 2 + 3 + 4));
}

DOCTEST_TEST_CASE("picture_png: has the colour of every block in its place") {
    const PatternSpec spec = named_pattern("bigbird");
    const BlockLayout layout = make_layout(spec, 16, 0, 0);
    const std::string file = png_picture(spec, layout, "bigbird, 1024 tokens");
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    DOCTEST_REQUIRE(png_image_begin_read_from_memory(&image, file.data(), file.size()) != 0);
    image.format = PNG_FORMAT_RGB;
    std::vector<std::uint8_t> pixels(PNG_IMAGE_SIZE(image));
    DOCTEST_REQUIRE(png_image_finish_read(&image, nullptr, pixels.data(), 0, nullptr) != 0);
    const int cell = 640 / 16;
    DOCTEST_CHECK(image.width == 640 + 2 * 16);
    for (std::size_t row = 0; row < 16; ++row) {
        std::string line(16, '.');
        for (std::size_t column = 0; column < 16; ++column) {
            const std::size_t x = 16 + column * cell + 7, y = 44 + row * cell + 3;
            const std::uint8_t* const pixel = pixels.data() + 3 * (y * image.width + x);
            line[column] = pixel[0] == 0xd1 ? '#' : pixel[0] == 0x30 ? 'o' : pixel[0] == 0xed ? '*' : '.';
        }
        DOCTEST_CHECK(line == picture(spec, layout).substr(row * 17, 16));
    }
}
