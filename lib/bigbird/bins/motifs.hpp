// SPDX-License-Identifier: Apache-2.0
// Motifs that the bins with a label have and other bins lack, found in sequence by counting words and by
// alignment. The filters of a model's first convolution can begin from them: a few hundred bins show a motif
// to such a search that a network trained from chance does not find in them.
#pragma once

#include "bigbird/motifs/motif_files.hpp"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

namespace bigbird::bins {

/// Bins of `length` bases each with their labels: all bins, or a sample in which rare labels have more bins
/// than their share.
struct LabelledSequence {
    std::int64_t length = 200;
    std::vector<std::uint8_t> codes{};  ///< (bins, length), as base_channels() takes them
    /// The first bins: all there are, or a random sample of them. The rest is bins with a label only.
    std::int64_t background = 0;
    /// For each label the bins that have it, ascending: all that the background has, and of the others a
    /// random sample, so that the whole is a random sample of the label's bins.
    std::vector<std::vector<std::int32_t>> with{};

    std::int64_t bins() const { return static_cast<std::int64_t>(codes.size()) / length; }
    std::int64_t labels() const { return static_cast<std::int64_t>(with.size()); }
    /// Of `count` bins from `bin` on.
    std::span<const std::uint8_t> codes_of(std::int64_t bin, std::int64_t count = 1) const {
        return std::span(codes).subspan(static_cast<std::size_t>(bin * length),
                                        static_cast<std::size_t>(count * length));
    }
};

inline constexpr std::int64_t least_motif_width = 9;

struct MotifSearch {
    std::int64_t width = 21;        ///< bases of a motif, from least_motif_width to a bin's
    std::int64_t most = 48;         ///< motifs
    std::int64_t words = 6;         ///< of a label that are tried
    std::int64_t fewest_bins = 15;  ///< of a label that is searched
};

struct Motif {
    /// log2 of how often a letter stands at a place over how often it stands anywhere; (width, 4).
    std::vector<float> odds{};
    std::int64_t label = 0;  ///< in whose bins it was found
    std::int64_t sites = 0;  ///< bins that it was made of
    double gc = 0.5;         ///< part of G and C among letters anywhere
    double enrichment = 0;   ///< part of the label's bins that have it over that of the others
};

/// A word of 8 bases begins each motif: one that the label's bins have more often than bins of the same GC
/// content do. Rounds of alignment to the best site of each bin make it `width` bases long. Both strands
/// count. What resembles a motif found before, or tells the label's bins too little, is left out. Best
/// words first; at most 700 are tried. Takes seconds for the largest sample. Throws ConfigError where the
/// search is not possible.
std::vector<Motif> find_motifs(const LabelledSequence& bins, const MotifSearch& search, int threads);

/// The motifs as files hold them, motif_1 and on; their names are `labels`, by Motif::label, with _ for
/// blanks.
motifs::MotifSet as_shares(std::span<const Motif> motifs, std::span<const std::string> labels);

/// Writes motifs, centred, over the first filters: each less its mean at a place, with `norm` as its norm,
/// plus a quarter of what stood there. weight: (channels, 4, width), a float32 tensor on the CPU; motifs
/// that are wider are cut at both ends. Motifs beyond the channels are not used.
void plant_motifs(const at::Tensor& weight, std::span<const Motif> motifs, double norm);

}  // namespace bigbird::bins
