// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/build/choose_hold_outs.hpp"

#include "bigbird/core/error.hpp"

#include <algorithm>
#include <cstdlib>

namespace bigbird::examples {

namespace {

constexpr std::int64_t share = 10, too_little = 3, too_much = 2;

/// Takes contigs from `left` until they have two thirds of `aim`, as long as each brings the sum nearer to
/// `aim`.
HeldOut nearest_contigs(std::vector<ContigBins>& left, std::int64_t aim) {
    HeldOut chosen;
    std::int64_t sum = 0;
    while (!left.empty() && 3 * sum < 2 * aim) {
        const auto distance = [&](const ContigBins& contig) { return std::abs(sum + contig.bins - aim); };
        const auto best = std::ranges::min_element(left, {}, distance);
        if (distance(*best) >= std::abs(sum - aim)) break;
        sum += best->bins;
        chosen.contigs.push_back(best->name);
        left.erase(best);
    }
    if (sum * too_little < aim || sum > too_much * aim) return {};
    return chosen;
}

}  // namespace

std::vector<HeldOut> choose_hold_outs(std::span<const ContigBins> contigs, std::size_t sets) {
    std::int64_t all = 0;
    for (const ContigBins& contig : contigs)
        all += contig.bins;
    if (all < least_bins_to_hold_out) {
        throw InputError("the reference has " + std::to_string(all) +
                         " bins with sequence on contigs with peaks, too few to hold some out (" +
                         std::to_string(least_bins_to_hold_out) +
                         " are needed); give more sequence, or --validation and --test");
    }
    const ContigBins& largest = *std::ranges::max_element(contigs, {}, &ContigBins::bins);
    std::vector<ContigBins> left;
    for (const ContigBins& contig : contigs)
        if (&contig != &largest && contig.bins > 0) left.push_back(contig);
    std::vector<HeldOut> chosen;
    while (chosen.size() < sets) {
        std::vector<ContigBins> rest = left;
        HeldOut one = nearest_contigs(rest, all / share);
        if (one.contigs.empty())
            one = {{largest.name}, all / share};
        else
            left = std::move(rest);
        chosen.push_back(std::move(one));
    }
    return chosen;
}

}  // namespace bigbird::examples
