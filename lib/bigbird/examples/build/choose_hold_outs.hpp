// SPDX-License-Identifier: Apache-2.0
// Chooses the held-out part of a genome by default, by rule, so that the same genome gives the same choice.
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

/// Contigs or, with bins > 0, that many usable bins at the end of the one contig.
struct HeldOut {
    std::vector<std::string> contigs{};
    std::int64_t bins = 0;
    bool operator==(const HeldOut&) const = default;
};

/// `sets` choices that share nothing. Each is the contig, never the largest, whose bins are nearest to a
/// tenth of all. Where that is less than two thirds of a tenth, further contigs join as long as they bring
/// the sum nearer. Where the sum is less than a third of the aim or more than twice as much, the choice is a
/// stretch of a tenth of all bins at the end of the largest contig. The earlier of equal contigs goes first.
/// Throws InputError where there are fewer bins than least_bins_to_hold_out.
std::vector<HeldOut> choose_hold_outs(std::span<const ContigBins> contigs, std::size_t sets);
inline constexpr std::int64_t least_bins_to_hold_out = 200;

}  // namespace bigbird::examples
