// SPDX-License-Identifier: Apache-2.0
// What Hopper's forward and dq kernels have in common: units of two query tiles, a group of warps for each,
// against key tiles and value tiles.
#pragma once

#include "bigbird/attention/cuda/device/hopper/pipeline.hpp"

namespace bigbird::attention::cuda {

/// What the producer loads (pipeline.hpp). A tile shorter than 64 tokens is loaded with what follows it: rows
/// of the next tile, or zeros behind the tensor's end. They do not count as long as the tensors hold finite
/// numbers: such keys' scores are -infinity and their weights 0, and such queries have the log-sum +infinity,
/// so weights of 0, in the passes backward and are not written by any.
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
