// SPDX-License-Identifier: Apache-2.0
// Finds motifs that are enriched in the bins with a label, by counting words and by alignment. The filters of
// a model's first convolution can be initialized with them. A few hundred bins are enough for this search to
// find a motif that a randomly initialized network would not learn from them.
#pragma once

#include "bigbird/motifs/motif_files.hpp"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

namespace bigbird::bins {

/// Bins of `length` bases each with their labels: all bins, or a sample enriched in rare labels.
struct LabelledSequence {
    std::int64_t length = 200;
    std::vector<std::uint8_t> codes{};  ///< (bins, length), as base_channels() takes them
    /// Number of leading bins that are all bins, or a random sample of all. The bins after them have a label.
    std::int64_t background = 0;
    /// For each label a random sample of its bins, ascending: all of the background's, and a sample of the
    /// others.
    std::vector<std::vector<std::int32_t>> with{};

    std::int64_t bins() const { return static_cast<std::int64_t>(codes.size()) / length; }
    std::int64_t labels() const { return static_cast<std::int64_t>(with.size()); }
    /// Codes of `count` bins from `bin` on.
    std::span<const std::uint8_t> codes_of(std::int64_t bin, std::int64_t count = 1) const {
        return std::span(codes).subspan(static_cast<std::size_t>(bin * length),
                                        static_cast<std::size_t>(count * length));
    }
};

inline constexpr std::int64_t least_motif_width = 9;

struct MotifSearch {
    std::int64_t width = 21;        ///< bases of a motif, from least_motif_width to a bin's
    std::int64_t most = 48;         ///< motifs
    std::int64_t words = 6;         ///< words tried per label
    std::int64_t fewest_bins = 15;  ///< a label with fewer is not searched
};

struct Motif {
    /// log2 of a letter's frequency at a position over its overall frequency; (width, 4).
    std::vector<float> odds{};
    std::int64_t label = 0;  ///< the label whose bins it was found in
    std::int64_t sites = 0;  ///< bins that it was aligned from
    double gc = 0.5;         ///< share of G and C among all letters
    double enrichment = 0;   ///< share of the label's bins with it over the share of other bins
};

/// Each motif starts from a word of 8 bases that is more frequent in the label's bins than in bins of the
/// same GC content. Rounds of alignment to the best site of each bin extend it to `width` bases. Both strands
/// count. Motifs that resemble an earlier one, or hardly distinguish the label's bins, are left out. Tries at
/// most 700 words, the best first. Takes seconds for the largest sample. Throws ConfigError if the search is
/// not possible.
std::vector<Motif> find_motifs(const LabelledSequence& bins, const MotifSearch& search, int threads);

/// The motifs in the form of motif files, with the ids motif_1, motif_2, …. Their names are `labels`, by
/// Motif::label, with _ for blanks.
motifs::MotifSet as_shares(std::span<const Motif> motifs, std::span<const std::string> labels);

/// Writes motifs, centered, over the first filters: each minus its mean per position, scaled to the norm
/// `norm`, plus a quarter of the old weights. weight: (channels, 4, width), a float32 tensor on the CPU;
/// motifs that are wider are cut at both ends. Motifs beyond the channels are not used.
void plant_motifs(const at::Tensor& weight, std::span<const Motif> motifs, double norm);

// A label's own motif is the filter of the first convolution whose best site in a bin predicts the label
// best. Its value goes directly to the head, with one weight per label. So a decisive motif (such as CTCF's)
// is not lost among the features that all labels share.

/// logits += (sites - mean) weight^T. A weight of 0 means that the filter is not the label's own; it stays 0.
struct OwnMotifs {
    at::Tensor mean;    // (filters) of the best sites
    at::Tensor weight;  // (labels, filters)
};

/// Chooses on `bins`, for each label with 15 bins or more, the filter with the largest AUROC, if it exceeds
/// the sixth largest by 0.05 and by two standard errors. Its weight is 1 / the standard deviation of its
/// sites in the background; `mean` is their mean there. filters: (filters, 4, width) float32 on the CPU; both
/// strands count.
OwnMotifs choose_own_motifs(const at::Tensor& filters, const LabelledSequence& bins);

}  // namespace bigbird::bins
