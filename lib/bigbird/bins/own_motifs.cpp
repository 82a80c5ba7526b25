// SPDX-License-Identifier: Apache-2.0
#include "bigbird/bins/own_motifs.hpp"

#include "bigbird/bins/convolution.hpp"
#include "bigbird/bins/stem.hpp"

#include <ATen/ATen.h>

#include <algorithm>

namespace bigbird::bins {

namespace {

constexpr std::int64_t fewest_bins = 15, bins_at_once = 256, rival = 5;
constexpr double least_lead = 0.05, least_errors = 2, first_weight = 1;

/// (bins, filters): the largest value of each filter in a bin, on either strand.
at::Tensor best_sites(const at::Tensor& filters, const LabelledSequence& bins) {
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

/// Ranks from 1 within each column, those of equal values their mean.
at::Tensor ranks_of(const at::Tensor& values) {
    const auto rows = static_cast<double>(values.size(0));
    const at::Tensor columns = values.t().contiguous();
    const at::Tensor sorted = std::get<0>(columns.sort(1));
    const at::Tensor below = at::searchsorted(sorted, columns, false, false);
    const at::Tensor up_to = at::searchsorted(sorted, columns, false, true);
    return ((below + up_to).to(at::kDouble) + 1).div_(2).t().clamp(1, rows);
}

struct Tells {
    at::Tensor aurocs;  // (labels, filters); 0.5 where a label has too few bins
    at::Tensor errors;  // (labels): the standard error of an AUROC of 0.5
};

Tells tells_of(const at::Tensor& sites, const LabelledSequence& bins) {
    const at::Tensor truth = at::tensor(at::ArrayRef<std::uint8_t>(bins.truth), at::kByte)
                                 .view({bins.bins(), bins.labels})
                                 .to(at::kDouble);
    const at::Tensor ones = truth.sum(0).unsqueeze(1), zeros = static_cast<double>(bins.bins()) - ones;
    const at::Tensor sums = at::matmul(truth.t(), ranks_of(sites));  // of the ranks of a label's bins
    const at::Tensor aurocs = (sums - ones * (ones + 1) / 2) / (ones * zeros).clamp_min(1);
    return {at::where((ones >= fewest_bins).logical_and(zeros > 0), aurocs, 0.5),
            ((ones + zeros + 1) / (12 * ones * zeros).clamp_min(1)).sqrt().squeeze(1)};
}

}  // namespace

OwnMotifs choose_own_motifs(const at::Tensor& filters, const LabelledSequence& bins) {
    const at::NoGradGuard no_gradients;
    const at::Tensor sites = best_sites(filters, bins);
    const Tells tells = tells_of(sites, bins);
    const auto [sorted, order] = tells.aurocs.sort(1, true);
    const at::Tensor lead = sorted.select(1, 0) - sorted.select(1, std::min(rival, filters.size(0) - 1));
    const at::Tensor leads = lead >= (least_errors * tells.errors).clamp_min(least_lead);  // (labels)
    const at::Tensor is_own =
        at::zeros_like(sorted).scatter(1, order.narrow(1, 0, 1), 1.0) * leads.unsqueeze(1);
    const at::Tensor deviation = sites.std(0).clamp_min(1e-6);
    return {.mean = sites.mean(0), .weight = (first_weight * is_own / deviation).to(at::kFloat)};
}

}  // namespace bigbird::bins
