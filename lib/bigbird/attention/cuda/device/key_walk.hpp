// SPDX-License-Identifier: Apache-2.0
// How a query unit's key tiles go through two stages of shared memory: the next one comes while one is worked
// on.
#pragma once

#include "bigbird/attention/cuda/device/tiles.hpp"

namespace bigbird::attention::cuda {

/// Calls begin() when the first keys, and whatever was copied before the call, are there, and step(bias,
/// keys, values) for each key tile that the queries of `side` attend. `Shared` has keys(stage) and
/// values(stage). All threads of the block call it.
template <int HeadDim, DeviceIsa Isa, typename Shared, typename Begin, typename Step>
BIGBIRD_DEVICE void walk_keys(const Isa& isa, const Arguments& a, const Shared& shared, const Unit& unit,
                              int sample, int side, const Begin& begin, const Step& step) {
    const HeadRows k = rows_of(a.k, sample, unit.head), v = rows_of(a.v, sample, unit.head);
    Entry entry = entry_of(a.queries, unit, 0), next = entry_of(a.queries, unit, 1);
    const auto load = [&](const Entry& of, int stage) {
        const int first = first_of(of), count = count_of(of);
        load_tile<HeadDim>(isa, shared.keys(stage), k, first, count);
        load_tile<HeadDim>(isa, shared.values(stage), v, first, count);
        isa.commit_copies();
        return load_key_pair(isa, a, sample, first, count);
    };
    KeyPair pair = load(entry, 0);
    const auto finish = [&] {  // what all threads have copied is there for all
        isa.wait_copies();
        isa.sync_block();
    };
    finish();
    begin();
    for (int i = 0; i < unit.count; ++i) {
        const int stage = i % 2, place = of_side(entry.bias, side);
        const TileBias bias = bias_of(a, place < 0 ? 0 : place, count_of(entry), bits_of(isa, pair));
        if (i + 1 < unit.count) {
            entry = next;
            pair = load(entry, 1 - stage);
            next = entry_of(a.queries, unit, i + 2);
        }
        if (place >= 0) {
            step(bias, shared.keys(stage), shared.values(stage));
        }
        finish();  // the next stage has come, and this one has been read
    }
}

}  // namespace bigbird::attention::cuda
