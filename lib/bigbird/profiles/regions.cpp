// SPDX-License-Identifier: Apache-2.0
#include "bigbird/profiles/regions.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/examples/build/gc_negatives.hpp"
#include "bigbird/examples/hold_outs.hpp"
#include "bigbird/genome/regions/assembly_fit.hpp"
#include "bigbird/genome/regions/interval_set.hpp"

#include <algorithm>
#include <utility>

namespace bigbird::profiles {

namespace {

using examples::Split;
using genome::Interval;

Interval window_of(const Region& region, const genome::ReferenceGenome& reference, std::int64_t size) {
    const std::int64_t begin = region.centre - size / 2;
    return {reference.contigs()[region.contig].name, begin, begin + size};
}

bool is_inside(const Interval& where, const Region& region, const genome::ReferenceGenome& reference) {
    return where.begin >= 0 && where.end <= reference.contigs()[region.contig].length;
}

std::vector<Interval> windows_of(std::span<const Region> regions, const genome::ReferenceGenome& reference,
                                 std::int64_t size) {
    std::vector<Interval> windows;
    for (const Region& region : regions) {
        Interval where = window_of(region, reference, size);
        where.begin = std::max<std::int64_t>(where.begin, 0);
        where.end = std::min(where.end, reference.contigs()[region.contig].length);
        windows.push_back(std::move(where));
    }
    return windows;
}

/// The windows of regions that may be used, each with its split.
std::vector<std::pair<Region, examples::SplitWindow>> usable(std::span<const Region> all,
                                                             const examples::BinRegions& regions,
                                                             std::int64_t window) {
    std::vector<Region> inside;
    std::vector<examples::SplitWindow> windows;
    for (const Region& region : all) {
        const Interval where = window_of(region, regions.reference(), window);
        if (!is_inside(where, region, regions.reference()) || !regions.admits(where)) continue;
        inside.push_back(region);
        windows.push_back({where, regions.split_of(where)});
    }
    const std::vector<bool> kept = examples::without_shared_windows(windows);
    std::vector<std::pair<Region, examples::SplitWindow>> usable;
    for (std::size_t i = 0; i < inside.size(); ++i)
        if (kept[i]) usable.emplace_back(inside[i], windows[i]);
    return usable;
}

}  // namespace

std::vector<Region> read_summits(std::span<const std::filesystem::path> paths,
                                 const genome::ReferenceGenome& reference) {
    std::vector<Region> summits;
    for (const std::filesystem::path& path : paths) {
        const genome::PlacedBed peaks = genome::read_bed_on(reference, path);
        genome::require_assembly(peaks.fit, reference, path.string(), "peaks", false);
        if (peaks.fit.off_reference() > 0)
            log_warning("{}: {} of {} peaks do not count: {}", path.string(), peaks.fit.off_reference(),
                        peaks.fit.rows, peaks.fit.misfits());
        for (const genome::BedRecord& peak : peaks.records)
            summits.push_back({static_cast<std::uint32_t>(*reference.find(peak.where.contig)),
                               peak.where.begin + peak.summit.value_or(peak.where.size() / 2)});
    }
    std::ranges::sort(summits);
    summits.erase(std::ranges::unique(summits).begin(), summits.end());
    if (summits.empty()) throw InputError("holds no peak on the reference", paths.front());
    return summits;
}

std::vector<Region> some_of(std::span<const Region> regions, std::size_t most) {
    std::vector<Region> some;
    const std::size_t count = std::min(most, regions.size());
    for (std::size_t i = 0; i < count; ++i)
        some.push_back(regions[i * regions.size() / count]);
    return some;
}

double covered_share(std::span<const Region> summits, const genome::ReferenceGenome& reference,
                     std::int64_t size) {
    const genome::IntervalSet taken(windows_of(summits, reference, size));
    std::int64_t bases = 0;
    for (const genome::Contig& contig : reference.contigs())
        if (!taken.spans(contig.name).empty()) bases += contig.length;
    return static_cast<double>(taken.bases()) / static_cast<double>(std::max<std::int64_t>(bases, 1));
}

SplitRegions make_regions(const examples::BinRegions& regions, std::span<const Region> summits,
                          const RegionOptions& options) {
    SplitRegions made;
    const genome::ReferenceGenome& reference = regions.reference();
    std::vector<examples::SplitWindow> windows;
    for (auto& [peak, window] : usable(summits, regions, options.window + 2 * options.jitter)) {
        made.peaks[static_cast<std::size_t>(window.split)].push_back(peak);
        windows.push_back({window_of(peak, reference, options.window), window.split});
    }
    for (const Split split : examples::all_splits)
        if (made.of(split, true).empty())
            throw InputError(fmt::format(
                "no peak is left for {}: give other --validation and --test, or none", to_string(split)));
    const genome::IntervalSet taken =
        genome::IntervalSet(windows_of(summits, reference, options.window)).united(regions.excluded());
    for (const auto& [where, split] : examples::gc_negatives(
             reference, windows, taken, [&](const Interval& window) { return regions.split_of(window); },
             options.background, options.seed)) {
        if (regions.admits(where))
            made.background[static_cast<std::size_t>(split)].push_back(
                {static_cast<std::uint32_t>(*reference.find(where.contig)),
                 where.begin + options.window / 2});
    }
    if (made.of(Split::train, false).empty())
        throw InputError(
            fmt::format("windows of {} bases about {} peaks leave no background in train: give fewer peaks",
                        options.window, summits.size()));
    return made;
}

}  // namespace bigbird::profiles
