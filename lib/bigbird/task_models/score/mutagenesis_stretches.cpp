// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/score/mutagenesis_stretches.hpp"

#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/rng.hpp"
#include "bigbird/genome/reference/dinucleotide_shuffle.hpp"

#include <algorithm>
#include <map>

namespace bigbird::task_models {

/// A window that is scored, and its bins as they are.
struct StretchEffects::Opened {
    EditedWindow window;
    at::Tensor reference;  ///< (window_bins, labels)
};

StretchEffects::StretchEffects(const EditedWindows& models, const genome::ReferenceGenome& reference,
                               const MutagenesisSpec& spec)
    : models_(models),
      reference_(reference),
      spec_(spec),
      grid_(models.grid()),
      size_(std::max(spec.deleted, spec.shuffled)) {}

std::string StretchEffects::shuffled(const std::string& contig, std::int64_t at) const {
    Rng rng = Rng(0).split("stretch-shuffles").split(contig).split(static_cast<std::uint64_t>(at));
    return genome::dinucleotide_shuffle(reference_.fetch({contig, at, at + size_}), rng);
}

std::string StretchEffects::edited(const genome::Interval& window, std::int64_t at) const {
    const auto& [contig, begin, end] = window;
    if (spec_.deleted > 0) {
        const std::int64_t cut = std::clamp(at, begin, end);
        return reference_.fetch({contig, begin, cut}) + reference_.fetch({contig, cut + size_, end + size_});
    }
    std::string dna = reference_.fetch(window);
    const std::string other = shuffled(contig, at);
    const std::int64_t first = std::max(at, begin), last = std::min(at + size_, end);
    if (first < last) {
        dna.replace(static_cast<std::size_t>(first - begin), static_cast<std::size_t>(last - first), other,
                    static_cast<std::size_t>(first - at), static_cast<std::size_t>(last - first));
    }
    return dna;
}

std::vector<float> StretchEffects::effects(const at::Tensor& ref, const at::Tensor& alt) const {
    const LinkFunction link = models_.models().front().info.link();
    std::vector<float> effects;
    for (std::int64_t label = 0; label < models_.labels(); ++label) {
        const double r = ref.const_data_ptr<double>()[label], a = alt.const_data_ptr<double>()[label];
        effects.push_back(static_cast<float>(
            spec_.quantity == Quantity::difference ? a - r : additive(a, link) - additive(r, link)));
    }
    return effects;
}

void StretchEffects::of(const rows::RegionRow& row,
                        const std::function<void(const genome::Interval&, std::vector<float>)>& put) const {
    const std::string& contig = row.window.contig;
    std::map<std::int64_t, Opened> windows;  // by their first base
    for (std::int64_t at = row.window.begin; at + size_ <= row.window.end; ++at) {
        stop_if_asked();
        const genome::Interval stretch{row.head.where.contig, at, at + size_};
        const std::string_view own =
            std::string_view(row.sequence)
                .substr(static_cast<std::size_t>(at - row.window.begin), static_cast<std::size_t>(size_));
        if (own.find_first_not_of('N') == std::string_view::npos) {
            put(stretch, {});
            continue;
        }
        const bool whole = spec_.score == MutagenesisScore::region;
        const auto shares =
            bins::shares_of(whole ? row.window.begin : at, whole ? row.window.end : at + 1, grid_.bin);
        at::Tensor ref = at::zeros({models_.labels()}, at::kDouble), alt = at::zeros_like(ref), edited_bins;
        std::int64_t edited_begin = -1;
        for (const bins::BinShare& share : shares) {
            const std::int64_t begin = grid_.begin_of(grid_.window_of(share.bin));
            const genome::Interval interval{contig, begin, begin + grid_.window_bases()};
            auto found = windows.find(begin);
            if (found == windows.end()) {
                if (!whole) windows.clear();
                EditedWindow window = models_.open(reference_.fetch(interval));
                at::Tensor reference = window.reference();
                found = windows.emplace(begin, Opened{std::move(window), std::move(reference)}).first;
            }
            if (!edited_bins.defined() || begin != edited_begin)
                edited_bins = found->second.window.edited(edited(interval, at));
            edited_begin = begin;
            const std::int64_t bin = grid_.place_of(share.bin);
            ref += found->second.reference[bin] * share.weight;
            alt += edited_bins[bin] * share.weight;
        }
        put(stretch, effects(ref, alt));
    }
}

}  // namespace bigbird::task_models
