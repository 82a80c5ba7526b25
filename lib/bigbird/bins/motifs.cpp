// SPDX-License-Identifier: Apache-2.0
#include "bigbird/bins/motifs.hpp"

#include "bigbird/bins/layers.hpp"
#include "bigbird/bins/stem.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

namespace bigbird::bins {

void plant_motifs(const at::Tensor& weight, const motifs::MotifSet& set, double norm) {
    const at::NoGradGuard no_gradients;
    const std::int64_t width = weight.size(2);
    for (std::int64_t i = 0; i < std::min(weight.size(0), std::ssize(set.motifs)); ++i) {
        const std::vector<float> odds = odds_of(set.motifs[static_cast<std::size_t>(i)], set.background);
        at::Tensor filter = at::tensor(odds).view({-1, 4}).t();  // (4, motif's width)
        const std::int64_t wide = filter.size(1), kept = std::min(wide, width);
        filter = filter.narrow(1, (wide - kept) / 2, kept);
        filter = filter - filter.mean(0, true);
        at::Tensor row = weight.select(0, i);
        row.mul_(0.25);
        row.narrow(1, (width - kept) / 2, kept).add_(filter * (norm / filter.norm()));
    }
}

namespace {

constexpr std::int64_t fewest_bins = 15, bins_at_once = 256, rival = 5;
constexpr double least_lead = 0.05, least_errors = 2, first_weight = 1;

/// (bins, filters): the largest value of each filter in a bin, on either strand.
at::Tensor best_sites(const at::Tensor& filters, const motifs::LabelledSequence& bins) {
    const at::Tensor weight = at::cat({filters, filters.flip({1, 2})});
    const at::Tensor bias = at::zeros({weight.size(0)});
    const at::Tensor codes =
        at::tensor(at::ArrayRef<std::uint8_t>(bins.codes), at::kByte).view({bins.bins(), bins.length});
    std::vector<at::Tensor> sites;
    for (const at::Tensor& some : codes.split(bins_at_once)) {
        const at::Tensor found = convolution(base_channels(some), weight, bias);
        sites.push_back(found.reshape({some.size(0), -1, filters.size(0)}).amax(1));
    }
    return at::cat(sites);
}

/// For each bin the number of background bins with a lower value of a filter; equal values count half.
at::Tensor background_below(const at::Tensor& values, std::int64_t background) {
    const at::Tensor sorted = std::get<0>(values.narrow(0, 0, background).sort());
    const at::Tensor below = at::searchsorted(sorted, values, false, false);
    const at::Tensor up_to = at::searchsorted(sorted, values, false, true);
    return (below + up_to).to(at::kDouble).div_(2);
}

/// One label's bins compared with the background's others.
struct LabelCounts {
    double ones, ones_of_background, zeros;
    LabelCounts(const motifs::LabelledSequence& bins, const std::vector<std::int32_t>& with)
        : ones(static_cast<double>(with.size())),
          ones_of_background(
              static_cast<double>(std::ranges::lower_bound(with, bins.background) - with.begin())),
          zeros(static_cast<double>(bins.background) - ones_of_background) {}
    bool has_enough() const { return ones >= fewest_bins && zeros > 0; }
    /// `below`: the sum of background_below() over the label's bins. It counts the label's bins in the
    /// background, half of which are below another one.
    double auroc(double below) const {
        return has_enough() ? (below - ones * ones_of_background / 2) / (ones * zeros) : 0.5;
    }
    /// The standard error of an AUROC of 0.5.
    double error() const { return std::sqrt((ones + zeros + 1) / std::max(12 * ones * zeros, 1.0)); }
};

struct Tells {
    at::Tensor aurocs;  // (labels, filters); 0.5 where a label has too few bins
    at::Tensor errors;  // (labels)
};

Tells tells_of(const at::Tensor& sites, const motifs::LabelledSequence& bins) {
    std::vector<LabelCounts> counts;
    for (const std::vector<std::int32_t>& with : bins.with)
        counts.emplace_back(bins, with);
    at::Tensor errors = at::empty({bins.labels()}, at::kDouble);
    for (std::size_t label = 0; label < counts.size(); ++label)
        errors.mutable_data_ptr<double>()[label] = counts[label].error();
    at::Tensor aurocs = at::empty({sites.size(1), bins.labels()}, at::kDouble);
    auto* out = aurocs.mutable_data_ptr<double>();
    for (std::int64_t filter = 0; filter < sites.size(1); ++filter) {
        const at::Tensor below = background_below(sites.select(1, filter).contiguous(), bins.background);
        const double* const of_bin = below.const_data_ptr<double>();
        for (std::size_t label = 0; label < counts.size(); ++label) {
            double sum = 0;
            for (const std::int32_t bin : bins.with[label])
                sum += of_bin[bin];
            *out++ = counts[label].auroc(sum);
        }
    }
    return {aurocs.t().contiguous(), errors};
}

}  // namespace

OwnMotifs choose_own_motifs(const at::Tensor& filters, const motifs::LabelledSequence& bins) {
    const at::NoGradGuard no_gradients;
    const at::Tensor sites = best_sites(filters, bins);
    const Tells tells = tells_of(sites, bins);
    const auto [sorted, order] = tells.aurocs.sort(1, true);
    const at::Tensor lead = sorted.select(1, 0) - sorted.select(1, std::min(rival, filters.size(0) - 1));
    const at::Tensor leads = lead >= (least_errors * tells.errors).clamp_min(least_lead);  // (labels)
    const at::Tensor is_own =
        at::zeros_like(sorted).scatter(1, order.narrow(1, 0, 1), 1.0) * leads.unsqueeze(1);
    const at::Tensor usual = sites.narrow(0, 0, bins.background);
    const at::Tensor deviation = usual.std(0).clamp_min(1e-6);
    return {.mean = usual.mean(0), .weight = (first_weight * is_own / deviation).to(at::kFloat)};
}

}  // namespace bigbird::bins
