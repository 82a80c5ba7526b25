// SPDX-License-Identifier: Apache-2.0
// From probabilities of both alleles to delta scores. No sequence, no network.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bigbird::splicing {

/// Delta scores: acceptor gain, acceptor loss, donor gain, donor loss; and the positions where they are,
/// relative to POS, in the direction of the genome on both strands.
struct SpliceEffect {
    std::array<double, 4> scores{};
    std::array<std::int64_t, 4> positions{};
};

/// Probabilities around an allele, (positions, channels), in the direction of the genome. Both windows begin
/// `distance` bases before POS.
struct AlleleWindow {
    std::span<const float> ref, alt;
    std::int64_t distance = 0, ref_length = 1, alt_length = 1;
};

/// What `spliceai` 1.3.1 computes of three channels (none, acceptor, donor). `ref` has 2 * distance + 1
/// positions, `alt` alt_length - ref_length more. One of the lengths is 1, and ref_length at most 2 *
/// distance. A deletion's gap is filled with zeros from `distance` + 1 on, or from the end of a shorter `alt`
/// (the program's fault with deletions of more than `distance` bases); an insertion has the maximum of its
/// bases and the base before. `nearest`: the exon's end nearest to POS, relative to it, to mask: the gain of
/// largest size is multiplied by 0 if it is there, a loss if it is not.
SpliceEffect program_effect(const AlleleWindow& window, std::optional<std::int64_t> nearest);

/// Annotated sites, relative to POS, ascending.
struct KnownSites {
    std::vector<std::int64_t> acceptors, donors;
};

/// The same without the program's faults: `ref` has 2 * distance + ref_length positions, `alt` 2 * distance +
/// alt_length, so that both end `distance` bases behind the alleles. Alleles of one length are compared base
/// by base; else the first base of REF has the maximum over ALT, and the others 0. To mask, gains at known
/// sites of their kind and losses elsewhere become 0 before the largest is looked for. No score is below 0.
SpliceEffect exact_effect(const AlleleWindow& window, const KnownSites* mask);

/// "0.15|0.27|0.00|0.05|89|-23|-267|193".
std::string text_of(const SpliceEffect& effect);

/// Pangolin's scores: the largest gain and the largest loss over positions of the difference alt - ref, by
/// position the largest and the smallest over channels. `ref` has 2 * distance + ref_length positions, `alt`
/// 2 * distance + alt_length.
struct PangolinEffect {
    double gain = 0, loss = 0;
    std::int64_t gain_at = 0, loss_at = 0;  ///< relative to POS
};
/// `boundaries`: ends of exons, relative to POS, to mask: no gain there, no loss elsewhere.
PangolinEffect pangolin_effect(const AlleleWindow& window, std::int64_t channels,
                               const std::vector<std::int64_t>* boundaries);

}  // namespace bigbird::splicing
