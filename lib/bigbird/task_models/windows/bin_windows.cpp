// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/windows/bin_windows.hpp"

#include "bigbird/bins/network.hpp"
#include "bigbird/core/check.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/genome/reference/sequence.hpp"

#include <algorithm>

namespace bigbird::task_models {

namespace {

constexpr double most_n = 0.5;  // of a bin that counts is less

/// For each bin of a stretch whether it counts.
std::vector<bool> counting_bins(const examples::LabelledBins& bins, const examples::BinStretch& stretch) {
    const std::int64_t size = bins.bin_size();
    std::vector<bool> counts;
    for (std::int64_t bin = stretch.first; bin < stretch.first + stretch.count; ++bin) {
        const std::string dna = bins.sequence(stretch.contig, bin * size, (bin + 1) * size);
        counts.push_back(genome::n_fraction(dna) < most_n);
    }
    return counts;
}

}  // namespace

BinWindows::BinWindows(const examples::LabelledBins& bins, const bins::Grid& grid, examples::Split split,
                       int threads)
    : bins_(bins), grid_(grid), split_(split) {
    const auto stretches = bins.stretches();
    std::vector<std::vector<bool>> counts(stretches.size());
    parallel_for(std::ssize(stretches), threads, [&](std::int64_t i) {
        const auto s = static_cast<std::size_t>(i);
        if (stretches[s].split == split) counts[s] = counting_bins(bins, stretches[s]);
    });
    for (std::size_t s = 0; s < stretches.size(); ++s) {
        counts[s].resize(static_cast<std::size_t>(stretches[s].count), false);
        for (std::size_t i = 0; i < counts[s].size(); ++i) {
            counts_.push_back(counts[s][i]);
            if (counts[s][i]) {
                usable_.push_back(
                    {static_cast<std::uint32_t>(s), stretches[s].first + static_cast<std::int64_t>(i)});
            }
        }
    }
}

bool BinWindows::is_usable(const examples::BinStretch& stretch, std::int64_t bin) const {
    return bin >= stretch.first && bin < stretch.first + stretch.count &&
           counts_[static_cast<std::size_t>(stretch.row + bin - stretch.first)];
}

std::vector<std::int64_t> BinWindows::positives() const {
    std::vector<std::int64_t> sums(bins_.label_table().size());
    std::vector<std::uint8_t> labels(sums.size());
    for (const Place& place : usable_) {
        const examples::BinStretch& stretch = bins_.stretches()[place.stretch];
        bins_.copy_labels(stretch.row + place.bin - stretch.first, labels);
        for (std::size_t i = 0; i < sums.size(); ++i)
            sums[i] += labels[i];
    }
    return sums;
}

bins::LabelledSequence BinWindows::labelled_sequence() const {
    const std::size_t labels = bins_.label_table().size();
    bins::LabelledSequence all{.length = grid_.bin, .labels = static_cast<std::int64_t>(labels)};
    all.truth.resize(usable_.size() * labels);
    auto row = std::span(all.truth);
    for (const Place& place : usable_) {
        const examples::BinStretch& stretch = bins_.stretches()[place.stretch];
        const std::string dna =
            bins_.sequence(stretch.contig, place.bin * grid_.bin, (place.bin + 1) * grid_.bin);
        const at::Tensor codes = bins::codes_of(dna);
        const auto* const first = codes.const_data_ptr<std::uint8_t>();
        all.codes.insert(all.codes.end(), first, first + codes.numel());
        bins_.copy_labels(stretch.row + place.bin - stretch.first, row.first(labels));
        row = row.subspan(labels);
    }
    return all;
}

BinWindow BinWindows::draw(Rng rng, std::int64_t shift, bool both_strands) const {
    BIGBIRD_EXPECTS(!usable_.empty(), "no bin to draw");
    const Place& place = usable_[static_cast<std::size_t>(rng.between(0, usable() - 1))];
    const examples::BinStretch& stretch = bins_.stretches()[place.stretch];
    const std::int64_t least = std::max(stretch.first, place.bin - grid_.window_bins + 1);
    const std::int64_t most = std::min(place.bin, stretch.first + stretch.count - grid_.window_bins);
    BinWindow window{.stretch = place.stretch,
                     .first = most < least ? stretch.first : rng.between(least, most),
                     .counted_end = grid_.window_bins};
    window.shift = rng.between(-shift, shift);
    window.reverse = both_strands && rng.between(0, 1) == 1;
    return window;
}

std::vector<BinWindow> BinWindows::tiles() const {
    std::vector<BinWindow> windows;
    for (std::size_t s = 0; s < bins_.stretches().size(); ++s) {
        const examples::BinStretch& stretch = bins_.stretches()[s];
        if (stretch.split != split_) continue;
        for (std::int64_t core = 0; core < stretch.count; core += grid_.core_bins()) {
            windows.push_back({.stretch = s,
                               .first = stretch.first + core - grid_.margin_bins,
                               .counted_begin = grid_.margin_bins,
                               .counted_end = grid_.window_bins - grid_.margin_bins});
        }
    }
    return windows;
}

std::string BinWindows::sequence(const BinWindow& window) const {
    const examples::BinStretch& stretch = bins_.stretches()[window.stretch];
    const std::int64_t size = grid_.bin, begin = window.first * size + window.shift,
                       end = begin + grid_.window_bases();
    const std::int64_t from = std::clamp(stretch.first * size, begin, end),
                       to = std::clamp((stretch.first + stretch.count) * size, begin, end);
    std::string dna(static_cast<std::size_t>(from - begin), 'N');
    if (from < to) dna += bins_.sequence(stretch.contig, from, to);
    dna.resize(static_cast<std::size_t>(end - begin), 'N');
    return window.reverse ? genome::reverse_complement(dna) : dna;
}

void BinWindows::copy_labels(const BinWindow& window, std::span<std::uint8_t> labels,
                             std::span<std::uint8_t> counts) const {
    const examples::BinStretch& stretch = bins_.stretches()[window.stretch];
    const std::size_t width = bins_.label_table().size();
    std::ranges::fill(labels, std::uint8_t{0});
    for (std::int64_t i = 0; i < grid_.window_bins; ++i) {
        const std::int64_t bin = window.first + i;
        const bool usable = i >= window.counted_begin && i < window.counted_end && is_usable(stretch, bin);
        const auto at = static_cast<std::size_t>(window.reverse ? grid_.window_bins - 1 - i : i);
        counts[at] = usable ? 1 : 0;
        if (usable) bins_.copy_labels(stretch.row + bin - stretch.first, labels.subspan(at * width, width));
    }
}

}  // namespace bigbird::task_models
