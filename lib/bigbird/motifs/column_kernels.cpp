// SPDX-License-Identifier: Apache-2.0
#include "bigbird/motifs/scanner.hpp"

#include <bit>

// This file is compiled once for each kind of vector unit.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bigbird/motifs/column_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace bigbird::motifs::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class D, class V>
HWY_INLINE void append(D d, V lost, V bound, std::size_t begin, std::size_t count,
                       std::vector<std::uint32_t>& starts) {
    alignas(64) std::uint8_t values[HWY_MAX_BYTES];
    hn::Store(lost, d, values);
    const std::uint8_t least = hn::GetLane(bound);
    for (std::size_t lane = 0; lane < hn::Lanes(d) && begin + lane < count; ++lane)
        if (values[lane] < least) starts.push_back(static_cast<std::uint32_t>(begin + lane));
}

/// Processes four vectors of starts at once, so that each table is loaded only once for all of them.
template <class D>
void find_by_vectors(D d, const std::uint8_t* pairs, std::size_t count, const PairTables& tables,
                     std::vector<std::uint32_t>& starts) {
    const std::size_t lanes = hn::Lanes(d);
    const auto bound = hn::Set(d, static_cast<std::uint8_t>(tables.limit + 1));
    for (std::size_t i = 0; i < count; i += 4 * lanes) {
        auto a = hn::Zero(d), b = a, c = a, e = a;
        const std::uint8_t* at = pairs + i;
        for (std::size_t pair = 0; pair < tables.pairs(); ++pair, at += 2) {
            const auto table = hn::LoadDup128(d, tables.tables.data() + 16 * pair);
            a = hn::SaturatedAdd(a, hn::TableLookupBytes(table, hn::LoadU(d, at)));
            b = hn::SaturatedAdd(b, hn::TableLookupBytes(table, hn::LoadU(d, at + lanes)));
            c = hn::SaturatedAdd(c, hn::TableLookupBytes(table, hn::LoadU(d, at + 2 * lanes)));
            e = hn::SaturatedAdd(e, hn::TableLookupBytes(table, hn::LoadU(d, at + 3 * lanes)));
        }
        const auto least = hn::Min(hn::Min(a, b), hn::Min(c, e));
        if (hn::AllFalse(d, hn::Gt(bound, least))) continue;
        append(d, a, bound, i, count, starts);
        append(d, b, bound, i + lanes, count, starts);
        append(d, c, bound, i + 2 * lanes, count, starts);
        append(d, e, bound, i + 3 * lanes, count, starts);
    }
}

void find(const std::uint8_t* pairs, std::size_t count, const PairTables& tables,
          std::vector<std::uint32_t>& starts) {
    const hn::CappedTag<std::uint8_t, 64> d;
    if (hn::Lanes(d) >= 16) return find_by_vectors(d, pairs, count, tables, starts);
    for (std::size_t i = 0; i < count; ++i) {
        unsigned lost = 0;
        for (std::size_t pair = 0; pair < tables.pairs(); ++pair)
            lost += tables.tables[16 * pair + pairs[i + 2 * pair]];
        if (lost <= tables.limit) starts.push_back(static_cast<std::uint32_t>(i));
    }
}

}  // namespace bigbird::motifs::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bigbird::motifs {

namespace {
HWY_EXPORT(find);
}  // namespace

void find_candidates(const std::uint8_t* pairs, std::size_t count, const PairTables& tables,
                     std::vector<std::uint32_t>& starts) {
    HWY_DYNAMIC_DISPATCH(find)(pairs, count, tables, starts);
}

}  // namespace bigbird::motifs
#endif
