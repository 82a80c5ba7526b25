// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/log.hpp"
#include "bigbird/motifs/motif_commands.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace bigbird::motifs {

namespace {

constexpr std::int64_t least_columns = 4;  // shorter ones are in most stretches
constexpr std::int64_t core = 21, seqlet_width = 31, farthest = 10;
constexpr double deviations =
    2.5;  // number of standard deviations by which a seqlet's sum must exceed the sums of random bases
constexpr std::size_t fewest_sites = 10, most_seqlets = 4000;
constexpr float joins = 0.65F,
                merges = 0.8F;  // minimum cosine to join a seqlet to a cluster, and to merge two clusters
constexpr int rounds = 4;
constexpr float least_of_top = 0.2F;  // minimum mean contribution of a motif's ends, relative to the maximum
/// A value for each letter of each position. Read backwards, it is the profile of the other strand.
using Profile = std::array<float, 4 * seqlet_width>;

float product(const Profile& a, const Profile& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0F);
}

float norm(const Profile& profile) {
    return std::sqrt(product(profile, profile));
}

/// `seqlet_width` bases of a region, on one of its strands. They may extend beyond the region.
struct Seqlet {
    std::size_t region = 0;
    std::int64_t begin = 0;
    bool reverse = false;
};

/// Calls take(aligned) for each offset and strand around a position.
template <typename Take>
void each_alignment(const Seqlet& seqlet, const Take& take) {
    for (const bool reverse : {false, true})
        for (std::int64_t moved = -farthest; moved <= farthest; ++moved)
            take(Seqlet{seqlet.region, seqlet.begin + moved, reverse});
}

/// The profile of a stretch: each base's contribution, or with `as_counts` 1, in the row of its letter.
Profile profile_of(const Contributions& region, const Seqlet& seqlet, bool as_counts = false) {
    Profile profile{};
    for (std::int64_t i = 0; i < seqlet_width; ++i) {
        const auto base =
            static_cast<std::size_t>(seqlet.begin + i);  // wraps around to a large number before the region
        const std::size_t code = base < region.dna.size() ? letters.find(region.dna[base]) : letters.npos;
        if (code == letters.npos || !std::isfinite(region.values[base])) continue;
        profile[static_cast<std::size_t>(4 * i) + code] = as_counts ? 1 : region.values[base];
    }
    if (seqlet.reverse) std::ranges::reverse(profile);
    return profile;
}

/// Returns the profile shifted by seqlet.begin columns, and reversed if seqlet.reverse.
Profile moved(const Profile& profile, const Seqlet& seqlet) {
    Profile other{};
    for (std::size_t i = 0; i < other.size(); ++i) {
        const std::size_t from = i + static_cast<std::size_t>(4 * seqlet.begin);
        if (from < profile.size()) other[i] = profile[from];
    }
    if (seqlet.reverse) std::ranges::reverse(other);
    return other;
}

struct Cluster {
    Profile sum{};  ///< sum of members' profiles, each of norm 1
    float sum_norm = 0;
    std::vector<Seqlet> members{};

    void add(const Profile& profile, const Seqlet& seqlet) {
        const float scale = 1 / std::max(norm(profile), 1e-30F);
        for (std::size_t i = 0; i < sum.size(); ++i)
            sum[i] += profile[i] * scale;
        sum_norm = norm(sum);
        members.push_back(seqlet);
    }
    float cosine(const Profile& profile, float profile_norm) const {
        return product(profile, sum) / std::max(profile_norm * sum_norm, 1e-30F);
    }
};

using Sizes = std::vector<std::vector<double>>;

Sizes sizes_of(std::span<const Contributions> regions) {
    Sizes all;
    for (const Contributions& region : regions) {
        std::vector<double>& sizes = all.emplace_back();
        for (const float value : region.values)
            sizes.push_back(std::isfinite(value) ? std::abs(static_cast<double>(value)) : 0);
    }
    return all;
}

/// Upper bound of sums over `core` random bases: they are nearly normal.
double threshold_of(const Sizes& all) {
    double count = 0, sum = 0, squares = 0;
    for (const std::vector<double>& sizes : all) {
        for (const double size : sizes) {
            ++count;
            sum += size;
            squares += size * size;
        }
    }
    const double mean = sum / count, variance = squares / count - mean * mean;
    return core * mean + deviations * std::sqrt(core * std::max(variance, 0.0));
}

/// The center of the `core` bases, weighted by their squared contributions.
std::int64_t centre_of(const std::vector<double>& sizes, std::int64_t begin) {
    double sum = 0, squares = 0;
    for (std::int64_t i = begin; i < begin + core; ++i) {
        const double square = sizes[static_cast<std::size_t>(i)] * sizes[static_cast<std::size_t>(i)];
        squares += square;
        sum += square * static_cast<double>(i);
    }
    return squares > 0 ? std::llround(sum / squares) : begin + core / 2;
}

/// The seqlets, the strongest first.
std::vector<Seqlet> find_seqlets(std::span<const Contributions> regions) {
    const Sizes sizes = sizes_of(regions);
    const double threshold = threshold_of(sizes);
    std::vector<std::pair<double, Seqlet>> all;  // sums that are high
    for (std::size_t region = 0; region < sizes.size(); ++region) {
        for (auto first = sizes[region].begin(); sizes[region].end() - first >= core; ++first) {
            const double sum = std::accumulate(first, first + core, 0.0);
            if (sum > threshold) all.push_back({sum, {region, first - sizes[region].begin()}});
        }
    }
    std::ranges::stable_sort(all, std::greater(), [](const auto& each) { return each.first; });
    std::vector<std::vector<std::int64_t>> taken(sizes.size());
    std::vector<Seqlet> kept;
    for (const auto& [sum, seqlet] : all) {
        auto& others = taken[seqlet.region];
        const auto is_near = [begin = seqlet.begin](std::int64_t at) { return std::abs(at - begin) < core; };
        if (std::ranges::any_of(others, is_near)) continue;
        others.push_back(seqlet.begin);
        kept.push_back({seqlet.region, centre_of(sizes[seqlet.region], seqlet.begin) - seqlet_width / 2});
        if (kept.size() == most_seqlets) break;
    }
    return kept;
}

/// Assigns each seqlet to its nearest cluster. With `grow`, a seqlet without a near cluster starts a new one.
void assign(std::span<const Contributions> regions, std::span<const Seqlet> seqlets,
            const std::vector<Cluster>& by, std::vector<Cluster>& to, bool grow) {
    for (const Seqlet& seqlet : seqlets) {
        std::size_t best = by.size();
        float most = joins;
        Seqlet where = seqlet;
        each_alignment(seqlet, [&](const Seqlet& aligned) {
            const Profile profile = profile_of(regions[aligned.region], aligned);
            const float own = norm(profile);
            for (std::size_t i = 0; i < by.size(); ++i) {
                const float likeness = by[i].cosine(profile, own);
                if (likeness < most) continue;
                most = likeness;
                best = i;
                where = aligned;
            }
        });
        if (best == to.size() && grow) to.emplace_back();
        if (best < to.size()) to[best].add(profile_of(regions[where.region], where), where);
    }
}

/// Leaves out clusters that resemble a larger one, and small clusters.
std::vector<Cluster> merged(std::vector<Cluster> clusters) {
    std::ranges::stable_sort(clusters, std::greater(), [](const Cluster& c) { return c.members.size(); });
    std::vector<Cluster> kept;
    for (Cluster& cluster : clusters) {
        if (cluster.members.size() < fewest_sites) break;
        float most = 0;
        each_alignment({}, [&](const Seqlet& aligned) {
            const Profile profile = moved(cluster.sum, aligned);
            for (const Cluster& other : kept)
                most = std::max(most, other.cosine(profile, cluster.sum_norm));
        });
        if (most < merges) kept.push_back(std::move(cluster));
    }
    return kept;
}

/// The letters of a cluster's seqlets where they contribute.
Motif motif_of(std::span<const Contributions> regions, const Cluster& cluster) {
    Profile counts{};
    for (const Seqlet& seqlet : cluster.members)
        std::ranges::transform(counts, profile_of(regions[seqlet.region], seqlet, true), counts.begin(),
                               std::plus());
    std::array<float, seqlet_width> heights{};
    for (std::size_t i = 0; i < cluster.sum.size(); ++i)
        heights[i / 4] += cluster.sum[i];
    for (float& height : heights)
        height = std::abs(height);
    const float least = least_of_top * *std::ranges::max_element(heights);
    const auto contributes = [&](float height) { return height >= least; };
    const auto first = std::ranges::find_if(heights, contributes) - heights.begin();
    const auto end = std::find_if(heights.rbegin(), heights.rend(), contributes).base() - heights.begin();
    Motif motif{.id = "", .sites = std::ssize(cluster.members)};
    for (const float* column = &counts[static_cast<std::size_t>(4 * first)]; column < counts.data() + 4 * end;
         column += 4) {
        const float sum = std::max(column[0] + column[1] + column[2] + column[3], 1.0F);
        Shares& shares = motif.shares.emplace_back();
        std::transform(column, column + 4, shares.begin(), [&](float count) { return count / sum; });
    }
    return motif;
}

}  // namespace

FoundMotifs find_motifs(std::span<const Contributions> regions) {
    const std::vector<Seqlet> seqlets = find_seqlets(regions);
    std::vector<Cluster> clusters;
    assign(regions, seqlets, clusters, clusters, true);
    for (int round = 0; round < rounds; ++round) {
        const std::vector<Cluster> before = merged(std::move(clusters));
        clusters.assign(before.size(), {});
        assign(regions, seqlets, before, clusters, false);
    }
    FoundMotifs found{.seqlets = std::ssize(seqlets)};
    for (const Cluster& cluster : merged(std::move(clusters))) {
        Motif motif = motif_of(regions, cluster);
        if (std::ssize(motif.shares) < least_columns) continue;
        found.motifs.push_back(std::move(motif));
        const bool lowers = std::accumulate(cluster.sum.begin(), cluster.sum.end(), 0.0F) < 0;
        found.motifs.back().id = fmt::format("{}pattern_{}", lowers ? "negative_" : "", found.motifs.size());
    }
    return found;
}

}  // namespace bigbird::motifs
