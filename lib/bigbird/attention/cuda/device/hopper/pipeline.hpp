// SPDX-License-Identifier: Apache-2.0
// The frame of Hopper's kernels: a persistent grid whose blocks walk through units. In each block a producer
// warp has the copy engine fill buffers of shared memory, and groups of warps consume them. Full and empty
// barriers (PTX: mbarrier) separate them, so that no group waits for another and the producer runs ahead,
// even into the next unit.
#pragma once

#include "bigbird/attention/cuda/device/hopper/warpgroup_tiles.hpp"

namespace bigbird::attention::cuda {

/// Calls body(number) for the number of each unit that the team was assigned (schedule.hpp). Prefetches the
/// next number.
template <typename Body>
BIGBIRD_DEVICE void for_own_units(const UnitList& list, int team, const Body& body) {
    const int end = list.team_first[team + 1];
    int i = list.team_first[team];
    int next = i < end ? list.team_units[i] : 0;
    while (i < end) {
        const int number = next;
        ++i;
        next = i < end ? list.team_units[i] : 0;
        body(number);
    }
}

/// Counts the uses of a ring of buffers over all units, equally on both sides. A consumer waits for `full`
/// with the parity of the current use. The producer waits for `empty` with the other parity, which passes at
/// once in the first round.
template <int Buffers>
class Turn {
public:
    BIGBIRD_DEVICE int buffer() const { return static_cast<int>(count_ % Buffers); }
    BIGBIRD_DEVICE std::uint32_t parity() const { return count_ / Buffers & 1; }
    BIGBIRD_DEVICE void advance() { count_ = count_ + 1 == 2 * Buffers ? 0 : count_ + 1; }

private:
    std::uint32_t count_ = 0;
};

/// The producer's message to the consumers about a unit. A header without a sample ends the sequence.
struct UnitHeader {
    Unit unit;
    std::int32_t sample;
};

/// The producer's message to the consumers about a step.
struct StepHeader {
    std::int32_t place[2];  // each side's index of biases, -1 where it does not attend
    float plain[2];         // first bias of each
    KeyBits keys;
    std::int32_t count;  // real tokens of the key tile
    std::int32_t left;   // steps of the unit after this one
};

/// A team's shared memory. A unit has Shape::unit_tiles tiles in one of Shape::unit_buffers buffers, a step
/// two tiles and Shape::step_sums rows of 64 floats in one of Shape::step_buffers.
template <typename Shape>
struct PipelineShared {
    static constexpr int unit_buffers = Shape::unit_buffers, step_buffers = Shape::step_buffers;
    static constexpr int sums_bytes = tile_tokens * static_cast<int>(sizeof(float));
    static constexpr int step_tiles_at = unit_buffers * Shape::unit_tiles * WarpgroupTile::bytes;
    static constexpr int sums_at = step_tiles_at + step_buffers * 2 * WarpgroupTile::bytes;
    static constexpr int headers_at = sums_at + step_buffers * Shape::step_sums * sums_bytes;
    static constexpr int units_at = headers_at + step_buffers * static_cast<int>(sizeof(StepHeader));
    static constexpr int barriers_at =
        (units_at + unit_buffers * static_cast<int>(sizeof(UnitHeader)) + 7) / 8 * 8;
    static constexpr int used = barriers_at + 2 * (unit_buffers + step_buffers) * 8;
    static constexpr int bytes = (used + 1023) / 1024 * 1024;  // the next team's tiles begin after them
    std::byte* memory;

    BIGBIRD_DEVICE WarpgroupTile unit_tile(int buffer, int i) const {
        return {memory + (buffer * Shape::unit_tiles + i) * WarpgroupTile::bytes};
    }
    BIGBIRD_DEVICE WarpgroupTile step_tile(int buffer, int i) const {
        return {memory + step_tiles_at + (2 * buffer + i) * WarpgroupTile::bytes};
    }
    BIGBIRD_DEVICE float* sums(int buffer, int i) const {
        return reinterpret_cast<float*>(memory + sums_at + (buffer * Shape::step_sums + i) * sums_bytes);
    }
    BIGBIRD_DEVICE StepHeader& header(int buffer) const {
        return reinterpret_cast<StepHeader*>(memory + headers_at)[buffer];
    }
    BIGBIRD_DEVICE UnitHeader& unit(int buffer) const {
        return reinterpret_cast<UnitHeader*>(memory + units_at)[buffer];
    }
    BIGBIRD_DEVICE Barrier* unit_full(int buffer) const { return barrier(buffer); }
    BIGBIRD_DEVICE Barrier* unit_empty(int buffer) const { return barrier(unit_buffers + buffer); }
    BIGBIRD_DEVICE Barrier* step_full(int buffer) const { return barrier(2 * unit_buffers + buffer); }
    BIGBIRD_DEVICE Barrier* step_empty(int buffer) const {
        return barrier(2 * unit_buffers + step_buffers + buffer);
    }
    static constexpr int barriers = 2 * (unit_buffers + step_buffers);
    BIGBIRD_DEVICE Barrier* barrier(int i) const {
        return reinterpret_cast<Barrier*>(memory + barriers_at) + i;
    }
};

/// Initializes a team's barriers, by one thread. `full` counts the producer's first lane and the bytes that
/// it announces. `empty` counts one lane of each consuming warp.
template <typename Shape, DeviceIsa Isa>
BIGBIRD_DEVICE void set_up_barriers(const Isa& isa, const PipelineShared<Shape>& shared) {
    constexpr int consumers = Shape::groups * warpgroup_warps;
    for (int i = 0; i < Shape::unit_buffers; ++i) {
        isa.init_barrier(shared.unit_full(i), 1);
        isa.init_barrier(shared.unit_empty(i), consumers);
    }
    for (int i = 0; i < Shape::step_buffers; ++i) {
        isa.init_barrier(shared.step_full(i), 1);
        isa.init_barrier(shared.step_empty(i), consumers);
    }
}

/// An entry of the list with the data for its header, prefetched from global memory.
struct Ahead {
    Entry entry;
    KeyPair pair;
    float plain[2];
};

/// The producer warp. `Loads` defines what is loaded: keys_of(unit, entry), the tokens of the key tile;
/// unit_bytes(unit) and load_unit(unit, sample, buffer, barrier); step_bytes() and load_step(unit, sample,
/// entry, buffer, barrier). The last two are called by one lane.
template <typename Shape, DeviceIsa Isa, typename Loads>
class Producer {
public:
    BIGBIRD_DEVICE Producer(const Isa& isa, const Arguments& a, const PipelineShared<Shape>& shared,
                            const Loads& loads)
        : isa_(isa), a_(a), shared_(shared), loads_(loads) {}

    BIGBIRD_DEVICE void run(int team, const UnitList& list) {
        for_own_units(list, team, [&](int number) {
            const int sample = number / list.unit_count;
            const Unit unit = list.units[number % list.unit_count];
            // With one buffer for the unit's tiles, the last unit still occupies it, so steps are loaded
            // first.
            const int first = Shape::unit_buffers > 1            ? 0
                              : unit.count < Shape::step_buffers ? unit.count
                                                                 : Shape::step_buffers;
            next_ = look(unit, sample, entry_of(list, unit, 0));
            after_ = entry_of(list, unit, 1);
            for (int i = 0; i <= unit.count; ++i) {
                if (i == first) fill_unit(unit, sample);
                if (i < unit.count) fill_step(unit, sample, unit.count - 1 - i, entry_of(list, unit, i + 2));
            }
        });
        fill_unit({}, -1);
        drain();
    }

private:
    /// Waits until consumers have released all buffers. Consumers have too few registers to detect hangs, so
    /// the producer does it for its team: a consumer that waits forever is detected here at the latest.
    BIGBIRD_DEVICE void drain() {
        for (int i = 0; i < Shape::step_buffers; ++i, step_turn_.advance())
            wait_empty(shared_.step_empty(step_turn_.buffer()), step_turn_.parity());
        for (int i = 1; i < Shape::unit_buffers;
             ++i, unit_turn_.advance())  // the last buffer is never released
            wait_empty(shared_.unit_empty(unit_turn_.buffer()), unit_turn_.parity());
    }
    /// Waits until the last readers of a buffer have released it. `parity`: that of the use that follows.
    BIGBIRD_DEVICE void wait_empty(Barrier* barrier, std::uint32_t parity) const {
        isa_.wait_or_give_up(barrier, parity ^ 1, shared_.barrier(0), PipelineShared<Shape>::barriers);
    }

    BIGBIRD_DEVICE Ahead look(const Unit& unit, int sample, const Entry& entry) const {
        const TokenRange keys = loads_.keys_of(unit, entry);
        return {entry,
                load_key_pair(isa_, a_, sample, keys.first, keys.count),
                {first_bias(entry.bias[0]), first_bias(entry.bias[1])}};
    }
    BIGBIRD_DEVICE float first_bias(int place) const { return place < 0 ? 0.0F : *biases_of(a_, place); }

    BIGBIRD_DEVICE void fill_unit(const Unit& unit, int sample) {
        const int buffer = unit_turn_.buffer();
        Barrier* full = shared_.unit_full(buffer);
        wait_empty(shared_.unit_empty(buffer), unit_turn_.parity());
        if (isa_.lane() == 0) {
            shared_.unit(buffer) = {unit, sample};
            if (sample >= 0) {
                isa_.expect_bytes(full, loads_.unit_bytes(unit));
                loads_.load_unit(unit, sample, buffer, full);
            }
            isa_.arrive(full);  // after the header, which consumers read after the barrier
        }
        unit_turn_.advance();
    }

    /// `left`: see StepHeader. `coming`: the entry two after the step's.
    BIGBIRD_DEVICE void fill_step(const Unit& unit, int sample, int left, const Entry& coming) {
        const Ahead now = next_;
        next_ = look(unit, sample, after_);
        after_ = coming;
        const int buffer = step_turn_.buffer();
        Barrier* full = shared_.step_full(buffer);
        wait_empty(shared_.step_empty(buffer), step_turn_.parity());
        if (isa_.lane() == 0) {
            isa_.expect_bytes(full, loads_.step_bytes());
            loads_.load_step(unit, sample, now.entry, buffer, full);
        }
        const KeyBits bits = bits_of(isa_, now.pair);
        if (isa_.lane() == 0) {
            shared_.header(buffer) = {{now.entry.bias[0], now.entry.bias[1]},
                                      {now.plain[0], now.plain[1]},
                                      bits,
                                      loads_.keys_of(unit, now.entry).count,
                                      left};
            isa_.arrive(full);
        }
        step_turn_.advance();
    }

    const Isa& isa_;
    const Arguments& a_;
    const PipelineShared<Shape>& shared_;
    const Loads& loads_;
    Turn<Shape::unit_buffers> unit_turn_;
    Turn<Shape::step_buffers> step_turn_;
    Ahead next_;   // for the next step
    Entry after_;  // the entry after that
};

/// Releases a buffer: one lane of each warp arrives after the complete warp has read it.
template <DeviceIsa Isa>
BIGBIRD_DEVICE void release(const Isa& isa, Barrier* empty) {
    isa.sync_warp();
    if (isa.lane() == 0) isa.arrive(empty);
}

BIGBIRD_DEVICE TileBias bias_of(const Arguments& a, const StepHeader& header, int side) {
    const KeyBits keys = header.keys;
    return {biases_of(a, header.place[side]), header.plain[side], a.tiling.blocks_per_tile == 1 && keys.all(),
            header.count, keys};
}

/// Runs a group of consumers; all of its threads call this. `Work` has begin(isa, header) for a unit, and
/// step(isa, bias, buffer, step buffer) for each step that this side attends. It also has finish(isa, header,
/// buffer), which may overwrite the unit's tiles.
template <typename Shape, DeviceIsa Isa, typename Work>
BIGBIRD_DEVICE void consume(const Isa& isa, const Arguments& a, const PipelineShared<Shape>& shared, int side,
                            Work& work) {
    Turn<Shape::unit_buffers> unit_turn;
    Turn<Shape::step_buffers> step_turn;
    for (;; unit_turn.advance()) {
        const int buffer = unit_turn.buffer();
        isa.wait_barrier(shared.unit_full(buffer), unit_turn.parity());
        if (shared.unit(buffer).sample < 0) return;
        work.begin(isa.late(), shared.unit(buffer));
        for (int left = shared.unit(buffer).unit.count; left > 0; step_turn.advance()) {
            const int step_buffer = step_turn.buffer();
            isa.wait_barrier(shared.step_full(step_buffer), step_turn.parity());
            const StepHeader& header = shared.header(step_buffer);
            if (header.place[side] >= 0) work.step(isa.late(), bias_of(a, header, side), buffer, step_buffer);
            left = header.left;  // read again, to save a register during the step
            release(isa, shared.step_empty(step_buffer));
        }
        isa.sync_group();  // all warps of the group have read what finish() overwrites
        work.finish(isa.late(), shared.unit(buffer), buffer);
        isa.publish_stores();  // before the copy engine overwrites it
        release(isa, shared.unit_empty(buffer));
    }
}

/// Runs a thread block: the consumer groups of its teams, and the group of their producers. Loads{isa, p,
/// shared} is used by Producer, Work(arguments, shared, side) by consume().
template <typename Shape, typename Loads, typename Work, DeviceIsa Isa, typename Map>
BIGBIRD_DEVICE void run_pipeline(const Isa& isa, const WarpgroupArguments<Map>& p, const UnitList& list) {
    using Shared = PipelineShared<Shape>;
    for (int team = 0; isa.thread() == 0 && team < Shape::teams; ++team)
        set_up_barriers(isa, Shared{isa.shared() + team * Shared::bytes});
    if (isa.thread() == 0) isa.publish_barriers();
    isa.sync_block();
    const int group = isa.thread() / warpgroup_threads;
    if (group == Shape::teams * Shape::groups) {
        isa.template give_registers<Shape::producer_registers>();
        const int team = isa.thread() % warpgroup_threads / warp_lanes;
        if (team < Shape::teams) {
            const Shared shared{isa.shared() + team * Shared::bytes};
            const Loads loads{isa, p, shared};
            Producer<Shape, Isa, Loads>(isa, p.a, shared, loads).run(isa.block() * Shape::teams + team, list);
        }
    } else {
        isa.template take_registers<Shape::registers>();
        const int team = group / Shape::groups, side = group % Shape::groups;
        const Shared shared{isa.shared() + team * Shared::bytes};
        Work work(p.a, shared, side);
        consume(isa, p.a, shared, side, work);
    }
}

// Shared by Hopper's forward and dq kernels: units of two query tiles, a group of warps for each, against key
// tiles and value tiles.

/// The loads of the producer (pipeline.hpp). A tile shorter than 64 tokens is loaded with the following rows:
/// those of the next tile, or zeros after the tensor's end. These rows have no effect as long as the tensors
/// contain finite numbers. Such keys have scores of -infinity and weights of 0. In the backward passes such
/// queries have a log-sum of +infinity, so weights of 0; no pass writes them.
template <DeviceIsa Isa, typename Map, typename Shape>
struct QueryUnitLoads {
    const Isa& isa;
    const WarpgroupArguments<Map>& p;
    const PipelineShared<Shape>& shared;
    static constexpr int of_side = Shape::unit_tiles / 2;  ///< tiles: queries, and backward d_out

    BIGBIRD_DEVICE TokenRange keys_of(const Unit&, const Entry& entry) const {
        return {first_of(entry), count_of(entry)};
    }
    BIGBIRD_DEVICE int unit_bytes(const Unit& unit) const {
        return (unit.tile[1] < 0 ? 1 : 2) * of_side * WarpgroupTile::bytes;
    }
    BIGBIRD_DEVICE void load_unit(const Unit& unit, int sample, int buffer, Barrier* full) const {
        for (int side = 0; side < 2 && cuda::of_side(unit.tile, side) >= 0; ++side) {
            const int first = first_token_of(p.a.tiling, cuda::of_side(unit.tile, side));
            isa.copy_tile(shared.unit_tile(buffer, side).data, p.q, first, unit.head, sample, full);
            if (of_side > 1) {
                isa.copy_tile(shared.unit_tile(buffer, 2 + side).data, p.d_out, first, unit.head, sample,
                              full);
            }
        }
    }
    BIGBIRD_DEVICE static constexpr int step_bytes() { return 2 * WarpgroupTile::bytes; }
    BIGBIRD_DEVICE void load_step(const Unit& unit, int sample, const Entry& entry, int buffer,
                                  Barrier* full) const {
        const int first = first_of(entry);
        isa.copy_tile(shared.step_tile(buffer, 0).data, p.k, first, unit.head, sample, full);
        isa.copy_tile(shared.step_tile(buffer, 1).data, p.v, first, unit.head, sample, full);
    }
};

}  // namespace bigbird::attention::cuda
