// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/log.hpp"
#include "bigbird/evaluation/evaluation.hpp"
#include "bigbird/evaluation/plot.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace bigbird::evaluation {

namespace {

constexpr std::int64_t bins_of_region = 512;
constexpr std::size_t most_regions = 3, most_tracks = 4;

/// Neighbouring rows, and the share of each track's signal that they have.
struct Region {
    genome::Interval where{};
    std::size_t begin = 0, end = 0;  ///< into the rows
    std::vector<double> shares{};

    double signal() const { return std::accumulate(shares.begin(), shares.end(), 0.0); }
};

std::vector<double> totals_of(const examples::ExampleSet& examples, std::span<const std::int64_t> rows) {
    std::vector<double> totals(examples.label_table().size());
    for (const std::int64_t row : rows)
        for (std::size_t track = 0; track < totals.size(); ++track)
            totals[track] += static_cast<double>(examples.numbers(row)[track]);
    return totals;
}

std::vector<Region> regions_of(const examples::ExampleSet& examples, std::span<const std::int64_t> rows) {
    const std::vector<double> totals = totals_of(examples, rows);
    std::vector<Region> regions;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const genome::Interval where = examples.row(rows[i]).where;
        const std::int64_t length = bins_of_region * where.size();
        if (regions.empty() || regions.back().where.contig != where.contig ||
            regions.back().where.begin / length != where.begin / length)
            regions.push_back({where, i, i, std::vector<double>(totals.size())});
        Region& region = regions.back();
        region.where.end = where.end;
        region.end = i + 1;
        for (std::size_t track = 0; track < totals.size(); ++track)
            if (totals[track] > 0)
                region.shares[track] += static_cast<double>(examples.numbers(rows[i])[track]) / totals[track];
    }
    std::ranges::stable_sort(regions, std::greater{}, &Region::signal);
    std::erase_if(regions, [](const Region& region) { return region.signal() == 0; });
    if (regions.size() > most_regions) regions.resize(most_regions);
    return regions;
}

std::vector<std::size_t> tracks_of(const Region& region) {
    std::vector<std::size_t> tracks(region.shares.size());
    std::iota(tracks.begin(), tracks.end(), std::size_t{0});
    std::ranges::stable_sort(tracks, std::greater{}, [&](std::size_t track) { return region.shares[track]; });
    if (tracks.size() > most_tracks) tracks.resize(most_tracks);
    return tracks;
}

std::string picture_of(const Region& region, const examples::ExampleSet& examples,
                       const std::vector<ScoreFile>& files, const std::vector<ScoredRows>& scored) {
    const std::vector<std::int64_t>& rows = scored.front().rows;
    const std::int64_t bin = examples.row(rows[region.begin]).where.size();
    const auto values = [&](const std::function<float(std::size_t)>& value) {
        std::vector<float> by_bin(static_cast<std::size_t>((region.where.size() + bin - 1) / bin), NAN);
        for (std::size_t i = region.begin; i < region.end; ++i)
            by_bin[static_cast<std::size_t>((examples.row(rows[i]).where.begin - region.where.begin) / bin)] =
                value(i);
        return by_bin;
    };
    RegionPicture picture(region.where);
    for (const std::size_t track : tracks_of(region)) {
        const std::string& name = examples.label_table()[track].name;
        std::vector<std::vector<float>> drawn{
            values([&](std::size_t i) { return examples.numbers(rows[i])[track]; })};
        for (const ScoredRows& one : scored)
            drawn.push_back(values([&](std::size_t i) { return one.scores[track][i]; }));
        float most = 0;
        for (const std::vector<float>& one : drawn)
            for (const float value : one)
                most = std::isfinite(value) ? std::max(most, value) : most;
        for (std::size_t d = 0; d < drawn.size(); ++d) {
            picture.track(name + ", " + (d == 0 ? "measured" : files[d - 1].name), drawn[d], bin, {},
                          d == 0 ? "#555" : colour_of(d - 1), static_cast<double>(most));
        }
    }
    return picture.html(
        fmt::format("{}:{}-{}", region.where.contig, region.where.begin + 1, region.where.end));
}

}  // namespace

std::string coverage_regions(const examples::ExampleSet& examples, const std::vector<ScoreFile>& files,
                             const std::vector<ScoredRows>& scored) {
    const std::vector<Region> regions = regions_of(examples, scored.front().rows);
    if (regions.empty()) return "";
    std::string html = fmt::format(
        "<h2>Held-out regions</h2><p>Measured coverage (grey) above predicted, on one scale, of the {} "
        "tracks with the "
        "most signal in each region. Shown are the stretches of {} bins with the most signal, chosen without "
        "looking "
        "at predictions.</p>\n",
        std::min(most_tracks, examples.label_table().size()), bins_of_region);
    for (const Region& region : regions)
        html += picture_of(region, examples, files, scored);
    return html;
}

}  // namespace bigbird::evaluation
