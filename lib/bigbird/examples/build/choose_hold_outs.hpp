// SPDX-License-Identifier: Apache-2.0
// Chooses the held-out part of a genome by a fixed rule, so that the same genome gives the same choice.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace bigbird::examples {

/// A contig and how many of its bins can be used.
struct ContigBins {
    std::string name;
    std::int64_t bins = 0;
};

/// Contigs; or, with bins > 0, that many usable bins at the end of a single contig.
struct HeldOut {
    std::vector<std::string> contigs{};
    std::int64_t bins = 0;
    bool operator==(const HeldOut&) const = default;
};

/// Makes `sets` disjoint choices. Each is the contig (never the largest) whose number of bins is nearest to a
/// tenth of all bins. If it has less than two thirds of a tenth, further contigs are added as long as they
/// bring the sum nearer to a tenth. If the sum is less than a third of the target or more than twice the
/// target, the choice is instead a stretch of a tenth of all bins at the end of the largest contig. Of equal
/// contigs, the earlier one is preferred. Throws InputError if there are fewer bins than
/// least_bins_to_hold_out.
std::vector<HeldOut> choose_hold_outs(std::span<const ContigBins> contigs, std::size_t sets);
inline constexpr std::int64_t least_bins_to_hold_out = 200;

}  // namespace bigbird::examples
