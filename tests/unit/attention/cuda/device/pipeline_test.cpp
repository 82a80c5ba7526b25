// SPDX-License-Identifier: Apache-2.0
// The frame of Hopper's kernels (attention/cuda/device/hopper/pipeline.hpp), and what its emulation is there
// to find.
#include "bigbird/attention/cuda/device/hopper/pipeline.hpp"

#include "support/simt.hpp"
#include "support/tensors.hpp"
#include "support/testing.hpp"

#include "bigbird/attention/cuda/device/hopper/wait_report.hpp"
#include "bigbird/attention/cuda/device/hopper/warpgroup_launches.hpp"

#include <array>
#include <functional>
#include <numeric>
#include <set>
#include <vector>

using namespace bigbird;
using namespace bigbird::attention;
using bigbird::testing::SimtIsa;
using cuda::Barrier;

namespace {

/// Random (samples, heads, length, 64), in memory by (samples, length, heads, 64), and what maps know of it.
struct MappedTensor {
    at::Tensor values;
    cuda::Arguments arguments;
    explicit MappedTensor(int length)
        : values(testing::random_tensor({2, length, 3, 64}, 1).to(at::kBFloat16).transpose(1, 2)) {
        arguments.samples = 2;
        arguments.heads = 3;
        arguments.tiling.length = length;
    }
    cuda::TileMapShape shape() const {
        return cuda::tile_map_shape({values.data_ptr(), values.stride(0), values.stride(1), values.stride(2)},
                                    arguments);
    }
};

constexpr int tile_bytes = cuda::WarpgroupTile::bytes;
struct Buffers {
    std::byte* memory;
    cuda::WarpgroupTile tile() const { return {memory}; }
    Barrier* full() const { return reinterpret_cast<Barrier*>(memory + tile_bytes); }
    Barrier* empty() const { return full() + 1; }
};

using Role = std::function<void(const SimtIsa&, const Buffers&)>;

/// Runs `consumer` as a group and `producer` as a warp behind it; `full` is set up for one arrival, `empty`
/// for four.
void run_pair(std::uint64_t seed, const Role& producer, const Role& consumer) {
    constexpr int threads = cuda::warpgroup_threads + cuda::warp_lanes;
    testing::run_grid(1, threads, tile_bytes + 16, seed, [&](const SimtIsa& m) {
        const Buffers buffers{m.shared()};
        if (m.thread() == 0) {
            m.init_barrier(buffers.full(), 1);
            m.init_barrier(buffers.empty(), 4);
            m.publish_barriers();
        }
        m.sync_block();
        (m.thread() < cuda::warpgroup_threads ? consumer : producer)(m, buffers);
    });
}

/// How each of twenty orders of warps and copies ends; all must end with an error.
std::set<std::string> messages_of_pair(const Role& producer, const Role& consumer) {
    std::set<std::string> messages;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const std::string message =
            testing::message_of<std::runtime_error>([&] { run_pair(seed, producer, consumer); });
        messages.insert(message.substr(0, message.rfind(" (thread")));
    }
    return messages;
}

/// Has the tile filled, announcing so many bytes.
void fill(const SimtIsa& m, const Buffers& b, const cuda::TileMapShape& map, int token = 0,
          int bytes = tile_bytes) {
    if (m.lane() == 0) {
        m.expect_bytes(b.full(), bytes);
        m.copy_tile(b.tile().data, map, token, 2, 1, b.full());
        m.arrive(b.full());
    }
}

/// A product of the group with the tile for both operands.
void multiply(const SimtIsa& m, const Buffers& buffers) {
    cuda::Accumulator sum[8];
    m.warpgroup_fence(sum);
    cuda::issue_rows_by_rows<cuda::Bf16>(m, sum, buffers.tile(), buffers.tile());
    m.warpgroup_commit();
    m.warpgroup_wait(sum);
}

/// A pipeline that moves headers alone.
struct HeadersShape {
    static constexpr int teams = 1, groups = 1, unit_tiles = 1, unit_buffers = 2, step_buffers = 2,
                         step_sums = 0;
};
struct HeadersLoads {
    static cuda::TokenRange keys_of(const cuda::Unit&, const cuda::Entry&) { return {}; }
    static int unit_bytes(const cuda::Unit&) { return 0; }
    static int step_bytes() { return 0; }
    static void load_unit(const cuda::Unit&, int, int, Barrier*) {}
    static void load_step(const cuda::Unit&, int, const cuda::Entry&, int, Barrier*) {}
};

/// Takes units of `steps` steps until there are no more. The last step and the last unit of all may be kept.
void take_headers(const SimtIsa& m, const cuda::PipelineShared<HeadersShape>& shared, int units, int steps,
                  bool keeps_step, bool keeps_unit) {
    cuda::Turn<2> unit_turn, step_turn;
    for (int unit = 0; unit <= units; ++unit, unit_turn.advance()) {
        m.wait_barrier(shared.unit_full(unit_turn.buffer()), unit_turn.parity());
        for (int step = 0; unit < units && step < steps; ++step, step_turn.advance()) {
            m.wait_barrier(shared.step_full(step_turn.buffer()), step_turn.parity());
            if (!keeps_step || unit + 1 < units || step + 1 < steps)
                cuda::release(m, shared.step_empty(step_turn.buffer()));
        }
        if (unit + 1 < units || (unit + 1 == units && !keeps_unit))
            cuda::release(m, shared.unit_empty(unit_turn.buffer()));
    }
}

void move_headers(std::uint64_t seed, int units, bool keeps_step, bool keeps_unit) {
    using Shared = cuda::PipelineShared<HeadersShape>;
    constexpr int steps = 3, threads = cuda::warpgroup_threads + cuda::warp_lanes;
    const std::vector<cuda::Unit> all(static_cast<std::size_t>(units), cuda::Unit{.count = steps});
    const std::vector<cuda::Entry> entries(steps);
    std::vector<std::int32_t> in_order(static_cast<std::size_t>(units));
    std::iota(in_order.begin(), in_order.end(), 0);
    const std::vector<std::int32_t> team_first{0, units};
    cuda::UnitList list;
    list.units = all.data();
    list.entries = entries.data();
    list.unit_count = units;
    list.team_first = team_first.data();
    list.team_units = in_order.data();
    cuda::Arguments a;
    a.samples = 1;
    testing::run_grid(1, threads, Shared::bytes, seed, [&](const SimtIsa& m) {
        const Shared shared{m.shared()};
        if (m.thread() == 0) {
            set_up_barriers(m, shared);
            m.publish_barriers();
        }
        m.sync_block();
        if (m.thread() < cuda::warpgroup_threads) {
            take_headers(m, shared, units, steps, keeps_step, keeps_unit);
        } else {
            const HeadersLoads loads;
            cuda::Producer<HeadersShape, SimtIsa, HeadersLoads>(m, a, shared, loads).run(0, list);
        }
    });
}

}  // namespace

DOCTEST_TEST_CASE("cuda_pipeline: a team goes through its own units in their order") {
    const std::vector<std::int32_t> first{0, 3, 3, 5}, units{4, 7, 9, 0, 8};
    cuda::UnitList list;
    list.team_first = first.data();
    list.team_units = units.data();
    std::vector<std::vector<int>> taken(3);
    for (int team = 0; team < 3; ++team) {
        cuda::for_own_units(
            list, team, [&](int unit) { taken[static_cast<std::size_t>(team)].push_back(unit); });
    }
    DOCTEST_CHECK((taken == std::vector<std::vector<int>>{{4, 7, 9}, {}, {0, 8}}));
}

DOCTEST_TEST_CASE(
    "cuda_pipeline: a tile is copied to where SharedTile has it, zeros behind the tensor's end") {
    const MappedTensor x(100);
    const cuda::TileMapShape shape = x.shape();
    for (const int token : {0, 20, 64}) {
        const auto produce = [&](const SimtIsa& m, const Buffers& b) { fill(m, b, shape, token); };
        at::Tensor found = at::empty({64, 64}, at::kBFloat16);
        run_pair(1, produce, [&](const SimtIsa& m, const Buffers& b) {
            m.wait_barrier(b.full(), 0);
            for (int row = 0; m.thread() == 0 && row < 64; ++row)
                for (int column = 0; column < 8; ++column)
                    std::memcpy(found[row].mutable_data_ptr<c10::BFloat16>() + 8 * column,
                                b.tile().chunk(row, column), 16);
        });
        const std::int64_t there = std::min(64, 100 - token);
        DOCTEST_CHECK(
            testing::identical(found.slice(0, 0, there), x.values[1][2].slice(0, token, token + there)));
        DOCTEST_CHECK(found.slice(0, there).count_nonzero().item<std::int64_t>() == 0);
    }
}

DOCTEST_TEST_CASE("cuda_pipeline: a buffer goes round, and what is done wrong is an error in any order") {
    const MappedTensor x(64);
    const cuda::TileMapShape shape = x.shape();
    constexpr std::uint32_t turns = 3;
    struct Wrong {
        bool waits_not = false, publishes_not = false, releases_not = false;
        std::uint32_t parity = 0;
        int bytes = 0;
        bool fills_at_once = false;
    };
    const auto producer = [&](const Wrong& wrong) {
        return [&shape, wrong](const SimtIsa& m, const Buffers& b) {
            for (std::uint32_t i = 0; i < turns; ++i) {
                if (!wrong.fills_at_once) m.wait_barrier(b.empty(), i % 2 ^ 1);
                fill(m, b, shape, 0, tile_bytes + wrong.bytes);
            }
        };
    };
    const auto consumer = [&](const Wrong& wrong) {
        return [wrong](const SimtIsa& m, const Buffers& b) {
            for (std::uint32_t i = 0; i < turns; ++i) {
                if (!wrong.waits_not) m.wait_barrier(b.full(), i % 2 ^ wrong.parity);
                multiply(m, b);
                m.sync_group();
                b.tile().data[m.thread()] = std::byte{1};
                if (!wrong.publishes_not) m.publish_stores();
                if (!wrong.releases_not) cuda::release(m, b.empty());
            }
        };
    };
    const auto messages = [&](const Wrong& wrong) {
        return messages_of_pair(producer(wrong), consumer(wrong));
    };
    for (std::uint64_t seed = 1; seed <= 20; ++seed)
        run_pair(seed, producer({}), consumer({}));
    const auto all_say = [](const std::set<std::string>& found, const std::vector<std::string>& any_of) {
        return std::ranges::all_of(found, [&](const std::string& message) {
            return std::ranges::any_of(
                any_of, [&](const std::string& part) { return message.find(part) != std::string::npos; });
        });
    };
    // Who gets out of step may also wait for a turn that does not come.
    const std::vector<std::string> early{"what no copy has brought", "still coming", "was not waited for",
                                         "lacks"};
    DOCTEST_CHECK(all_say(messages({.waits_not = true}), early));
    DOCTEST_CHECK(all_say(messages({.parity = 1}), early));
    DOCTEST_CHECK(all_say(messages({.publishes_not = true}), {"before stores to it were published"}));
    DOCTEST_CHECK(all_say(messages({.releases_not = true}), {"at byte 8200 lacks 4 arrivals and 0 bytes"}));
    DOCTEST_CHECK(all_say(messages({.bytes = 16}), {"at byte 8192 lacks 0 arrivals and 16 bytes"}));
    DOCTEST_CHECK(all_say(messages({.bytes = -16}), {"more bytes than were expected"}));
    DOCTEST_CHECK(all_say(messages({.fills_at_once = true}),
                          {"two copies go to one place", "before its readers have let it go", "still coming",
                           "was not waited for", "lacks"}));
}

DOCTEST_TEST_CASE(
    "cuda_pipeline: the report of a kernel that gave up names the barrier and whose fault it is") {
    using Shape = cuda::WarpgroupKeyGradientShape;
    using Shared = cuda::PipelineShared<Shape>;
    static_assert(Shared::barriers <= 15 && Shape::teams * Shared::bytes < 1 << 18, "they fit a word");
    alignas(8) static std::array<std::byte, 3 * Shared::bytes> memory;
    const Shared team{memory.data() + 2 * Shared::bytes};
    const auto offset = [&](const Barrier* barrier) {
        return static_cast<std::uint32_t>(reinterpret_cast<const std::byte*>(barrier) - memory.data());
    };
    const auto number = [&](const Barrier* barrier) { return barrier - team.barrier(0); };
    std::array<std::uint64_t, cuda::report_words> words{};
    DOCTEST_CHECK(cuda::describe_waits<Shape>("dq", words.data()).empty());

    const std::uint32_t brought = 1U << number(team.step_full(1));
    words[14] = cuda::pack_wait({65535 + 8, offset(team.step_empty(1)), brought});
    words[13] = cuda::pack_wait({0, offset(team.unit_empty(0)), brought});
    DOCTEST_CHECK(
        cuda::describe_waits<Shape>("dq", words.data()) ==
        "bigbird-cuda: the dq kernel was ended: warp 13 of block 0 waited too long for unit_empty 0 of "
        "team 2: its copies never arrived\n"
        "bigbird-cuda: the dq kernel was ended: warp 14 of block 7 waited too long for step_empty 1 of "
        "team 2: its readers never let it go\n");
    DOCTEST_CHECK(cuda::describe_wait<Shape>({0, offset(team.step_full(2)), 0x7FFF}) ==
                  "step_full 2 of team 2: its copies never arrived");
    DOCTEST_CHECK(cuda::describe_wait<Shape>({0, 16, 0}) == "the barrier at byte 16");
}

DOCTEST_TEST_CASE("cuda_pipeline: the producer stays until its team has let everything go") {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        for (const int units : {1, 2, 3, 6}) {
            DOCTEST_CAPTURE(units);
            move_headers(seed, units, false, false);
            const auto message = [&](bool keeps_step, bool keeps_unit) {
                return testing::message_of<std::runtime_error>(
                    [&] { move_headers(seed, units, keeps_step, keeps_unit); });
            };
            DOCTEST_CHECK(message(true, false).find("lacks 4 arrivals and 0 bytes") != std::string::npos);
            DOCTEST_CHECK(message(false, true).find("lacks 4 arrivals and 0 bytes") != std::string::npos);
        }
    }
}
