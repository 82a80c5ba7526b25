// SPDX-License-Identifier: Apache-2.0
#include "support/testing.hpp"
#include "unit/attention/cuda/device/cuda_cases.hpp"

#include "bigbird/core/error.hpp"

#include <array>
#include <cmath>
#include <set>

using namespace bigbird;
using namespace bigbird::attention;
using bigbird::testing::CudaCase;
using bigbird::testing::difference;

namespace {

constexpr std::array<CudaCase, 12> cases{
    {{.pattern = "bigbird", .block_size = 16, .blocks = 13, .samples = 2, .head_dim = 8, .padded = 20},
     {.pattern = "bigbird", .source = RandomSource::hf, .block_size = 16, .blocks = 14, .head_dim = 4},
     {.pattern = "bigbird", .block_size = 32, .blocks = 15, .head_dim = 4, .padded = 3, .longest = 3},
     {.pattern = "bigbird", .block_size = 64, .blocks = 12, .head_dim = 4, .padded = 70, .longest = 4},
     {.pattern = "bigbird-first", .block_size = 64, .blocks = 13, .head_dim = 4},
     {.pattern = "bigbird-etc", .block_size = 84, .blocks = 9, .head_dim = 4, .padded = 85},
     {.pattern = "bigbird", .block_size = 128, .blocks = 12, .heads = 1, .head_dim = 2, .longest = 5},
     {.pattern = "window", .block_size = 48, .blocks = 9, .head_dim = 4},
     {.pattern = "random", .block_size = 24, .blocks = 13, .head_dim = 4, .padded = 30},
     {.pattern = "random+window", .block_size = 5, .blocks = 31, .samples = 2, .head_dim = 4, .padded = 7},
     {.pattern = "bigbird", .block_size = 70, .blocks = 3, .head_dim = 4, .padded = 9, .full = true},
     {.pattern = "full", .block_size = 16, .blocks = 9, .head_dim = 4, .padded = 9, .longest = 1}}};

void check_equal(const testing::AttentionResults& found, const testing::AttentionResults& wanted,
                 double tolerance) {
    DOCTEST_CHECK(difference(found.out, wanted.out) < tolerance);
    DOCTEST_CHECK(difference(found.dq, wanted.dq) < tolerance);
    DOCTEST_CHECK(difference(found.dk, wanted.dk) < tolerance);
    DOCTEST_CHECK(difference(found.dv, wanted.dv) < tolerance);
}

void check_case(const CudaCase& c, std::uint64_t seed) {
    DOCTEST_CAPTURE(c.pattern);
    DOCTEST_CAPTURE(c.block_size);
    DOCTEST_CAPTURE(c.blocks);
    DOCTEST_CAPTURE(c.longest);
    const LayerLayout layout = layout_of(c);
    const testing::AttentionInputs inputs = inputs_of(c, at::kFloat, seed);
    const cuda::Schedule schedule = cuda::make_schedule(*layout.layouts, c.block_size, c.longest);
    check_equal(run_twin(schedule, inputs, !layout.full), run_reference(layout, inputs, at::kDouble), 1e-10);
}

}  // namespace

DOCTEST_TEST_CASE("cuda_schedule: its slow twin equals the reference attention, forward and backward") {
    for (const CudaCase& c : cases) {
        check_case(c, 1);
    }
}

DOCTEST_TEST_CASE("cuda_schedule: its slow twin equals the reference attention for patterns by chance") {
    Rng rng(7);
    const std::array<const char*, 7> patterns{"bigbird", "bigbird-first", "bigbird-etc", "window",
                                              "random",  "random+window", "full"};
    const std::array<int, 7> block_sizes{3, 16, 32, 40, 64, 84, 128};
    for (std::uint64_t i = 0; i < 12; ++i) {
        CudaCase c{.pattern = patterns[static_cast<std::size_t>(rng.between(0, 6))]};
        c.block_size = block_sizes[static_cast<std::size_t>(rng.between(0, 6))];
        c.blocks = static_cast<int>(rng.between(12, c.block_size > 40 ? 13 : 20));
        c.source = rng.between(0, 1) == 0 ? RandomSource::uniform : RandomSource::hf;
        c.heads = static_cast<int>(rng.between(1, 2));
        c.head_dim = static_cast<int>(rng.between(1, 3));
        c.padded = static_cast<int>(rng.between(0, c.block_size * c.blocks - 1));
        c.longest = static_cast<int>(rng.between(0, 9));
        check_case(c, i + 2);
    }
}

DOCTEST_TEST_CASE("cuda_schedule: every tile is written once, and every part of a cut list") {
    const LayerLayout layout = testing::layout_of({.pattern = "bigbird", .blocks = 64, .heads = 3});
    const cuda::Schedule schedule = cuda::make_schedule(*layout.layouts, 64);
    for (const cuda::WorkList* work : {&schedule.queries, &schedule.keys}) {
        std::multiset<std::pair<int, int>> written;
        std::multiset<int> parts;
        for (const cuda::Unit& unit : work->units) {
            for (int side = 0; side < 2; ++side) {
                if (unit.tile[side] >= 0 && unit.slot[side] < 0) {
                    written.emplace(unit.head, unit.tile[side]);
                } else if (unit.tile[side] >= 0) {
                    parts.insert(unit.slot[side]);
                }
            }
        }
        for (const cuda::Sum& sum : work->sums) {
            written.emplace(sum.head, sum.tile);
            for (int i = sum.first; i < sum.first + sum.count; ++i) {
                DOCTEST_CHECK(parts.count(i) == 1);
            }
        }
        DOCTEST_CHECK(written.size() == 3 * 64);
        DOCTEST_CHECK(std::set(written.begin(), written.end()).size() == 3 * 64);
        DOCTEST_CHECK(parts.size() == static_cast<std::size_t>(work->slots));
    }
}

DOCTEST_TEST_CASE("cuda_schedule: global rows share units and are cut, neighbours share their keys") {
    const LayerLayout layout = testing::layout_of({.pattern = "bigbird", .blocks = 64, .heads = 1});
    const cuda::Schedule schedule = cuda::make_schedule(*layout.layouts, 64);
    std::size_t loads = 0;
    for (const cuda::Unit& unit : schedule.queries.units) {
        DOCTEST_CHECK(unit.count <= 16);
        const bool is_global = unit.tile[0] == 0 && unit.tile[1] == 63;
        DOCTEST_CHECK((unit.slot[0] >= 0) == is_global);
        loads += static_cast<std::size_t>(unit.count);
    }
    // 62 rows of 8 blocks two by two, of which 2 global and about 2 window blocks are shared, and 64 global
    // ones.
    DOCTEST_CHECK(loads < 64 + 31 * 13);
    DOCTEST_CHECK(loads > 64 + 31 * 10);
    DOCTEST_CHECK(schedule.queries.sums.size() == 2);
    DOCTEST_CHECK(schedule.keys.sums.size() >= 2);
    for (const cuda::Unit& unit : schedule.keys.units) {
        DOCTEST_CHECK(unit.count <= 16);
    }
}

DOCTEST_TEST_CASE("cuda_schedule: a head's units go from long to short") {
    const LayerLayout layout = testing::layout_of({.pattern = "bigbird", .blocks = 32, .heads = 2});
    const cuda::Schedule schedule = cuda::make_schedule(*layout.layouts, 64);
    for (const cuda::WorkList* work : {&schedule.queries, &schedule.keys}) {
        for (std::size_t i = 1; i < work->units.size(); ++i) {
            const cuda::Unit &before = work->units[i - 1], &after = work->units[i];
            DOCTEST_CHECK(before.head <= after.head);
            DOCTEST_CHECK((before.head < after.head || before.count >= after.count));
        }
    }
}

DOCTEST_TEST_CASE("cuda_schedule: tiles cover every token once, for any block size") {
    for (int block = 1; block < 200; ++block) {
        for (const int blocks : {1, 2, 7}) {
            const cuda::Tiling tiling = cuda::make_tiling(blocks, block);
            std::vector<int> covered(static_cast<std::size_t>(tiling.length));
            for (int tile = 0; tile < tiling.tiles; ++tile) {
                DOCTEST_REQUIRE(cuda::tokens_of(tiling, tile) > 0);
                for (int i = 0; i < cuda::tokens_of(tiling, tile); ++i) {
                    ++covered[static_cast<std::size_t>(cuda::first_token(tiling, tile) + i)];
                }
            }
            DOCTEST_CHECK(std::ranges::all_of(covered, [](int times) { return times == 1; }));
        }
    }
}

DOCTEST_TEST_CASE("cuda_schedule: patterns of tokens are refused") {
    const PatternSpec spec = named_pattern("sliding");
    const std::string message = testing::message_of<ConfigError>(
        [&] { cuda::make_schedule({make_layout(spec, 12, 0, 0)}, spec.block_size); });
    DOCTEST_CHECK(message == "the CUDA kernels attend whole blocks: choose blocked for patterns of tokens");
}
