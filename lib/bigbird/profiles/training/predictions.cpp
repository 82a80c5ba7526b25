// SPDX-License-Identifier: Apache-2.0
#include "bigbird/profiles/training/predictions.hpp"

#include "bigbird/bins/network.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/evaluation/measures.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

namespace bigbird::profiles {

namespace {

constexpr std::size_t windows_at_once = 64;

Json number_or_null(const std::optional<double>& value) {
    return value && std::isfinite(*value) ? Json(*value) : Json();
}

}  // namespace

networks::ProfileHeads ProfilePair::scores(const at::Tensor& codes) const {
    networks::ProfileHeads heads = main.ptr()->scores(codes);
    return bias ? networks::joined_heads(heads, bias.ptr()->scores(codes)) : heads;
}

networks::ProfileHeads ProfilePair::mean_scores(const at::Tensor& codes) const {
    constexpr int last_letter = 3;
    const at::Tensor turned = at::where(codes.le(last_letter), last_letter - codes, codes).flip({1});
    const networks::ProfileHeads own = scores(codes), other = scores(turned);
    return {(own.profile + other.profile.flip({1})) / 2,
            at::logaddexp(own.counts, other.counts) - std::log(2.0)};
}

ProfileBatch batch_of(const WindowSource& source, std::span<const Sample> samples) {
    ProfileBatch batch;
    std::vector<at::Tensor> codes;
    batch.counts = at::empty({std::ssize(samples), source.output()});
    for (std::size_t i = 0; i < samples.size(); ++i) {
        codes.push_back(bins::codes_of(source.dna(samples[i])));
        source.counts(samples[i], {batch.counts[static_cast<std::int64_t>(i)].mutable_data_ptr<float>(),
                                   static_cast<std::size_t>(source.output())});
    }
    batch.codes = at::stack(codes);
    return batch;
}

void for_each_prediction(const WindowSource& source, std::span<const Region> regions,
                         const std::function<networks::ProfileHeads(const at::Tensor& codes)>& scores,
                         const std::function<void(const ProfileBatch&, const networks::ProfileHeads&)>& use) {
    const at::NoGradGuard no_gradients;
    for (std::size_t begin = 0; begin < regions.size(); begin += windows_at_once) {
        stop_if_asked();
        std::vector<Sample> samples;
        for (const Region& region : regions.subspan(begin, std::min(windows_at_once, regions.size() - begin)))
            samples.push_back({region});
        const ProfileBatch batch = batch_of(source, samples);
        use(batch, scores(batch.codes));
    }
}

at::Tensor profile_losses(const at::Tensor& logits, const at::Tensor& counts) {
    return -(at::log_softmax(logits, 1) * counts).sum(at::IntArrayRef{1});
}

namespace {

/// Adds the rows of `values` up, base by base.
void add_rows(const at::Tensor& values, std::vector<double>& sums) {
    const at::Tensor sum = values.to(at::kDouble).sum(at::IntArrayRef{0}).contiguous();
    sums.resize(static_cast<std::size_t>(sum.numel()));
    for (std::size_t i = 0; i < sums.size(); ++i)
        sums[i] += sum.const_data_ptr<double>()[i];
}

}  // namespace

void ProfileFigures::add(const ProfileBatch& batch, const networks::ProfileHeads& heads) {
    const at::Tensor logits = heads.profile.squeeze(2), losses = profile_losses(logits, batch.counts);
    const at::Tensor shares = logits.softmax(1).contiguous(), counted = batch.counts.contiguous();
    const auto output = static_cast<std::size_t>(counted.size(1));
    add_rows(counted, ends);
    add_rows(shares * heads.counts.expm1(), expected);
    const double before = static_cast<double>(regions());
    double profile_sum = profile_loss * before, count_sum = count_loss * before;
    for (std::int64_t i = 0; i < counted.size(0); ++i) {
        const std::span<const float> counts(counted[i].const_data_ptr<float>(), output);
        distances.add(counts, {shares[i].const_data_ptr<float>(), output});
        observed.push_back(std::log1p(counted[i].sum().item<float>()));
        predicted.push_back(heads.counts[i][0].item<float>());
        profile_sum += losses[i].item<double>() + factorial_terms(counts);
        count_sum += std::pow(observed.back() - predicted.back(), 2);
    }
    profile_loss = profile_sum / static_cast<double>(regions());
    count_loss = count_sum / static_cast<double>(regions());
}

std::optional<double> ProfileFigures::pearson() const {
    return evaluation::linear_figures(predicted, observed).pearson;
}

std::optional<double> ProfileFigures::spearman() const {
    const evaluation::Measure measure =
        evaluation::measure_numbers({.scores = {std::span(predicted)}}, {std::span(observed)});
    return measure.figures()[1];
}

Json ProfileFigures::to_json() const {
    return {{"regions", regions()},
            {"pearsonr", number_or_null(pearson())},
            {"spearmanr", number_or_null(spearman())},
            {"mse", number_or_null(count_loss)},
            {"median_jsd", number_or_null(distances.median_distance())},
            {"median_norm_jsd", number_or_null(distances.median_normalized())},
            {"profile_jsd", number_or_null(distances.weighted())},
            {"profile_jsd_flat", number_or_null(distances.weighted_uniform())},
            {"profile_nll", number_or_null(profile_loss)}};
}

ProfileFigures figures_of(const ProfilePair& pair, const WindowSource& source,
                          std::span<const Region> regions, bool both_strands) {
    ProfileFigures figures;
    for_each_prediction(
        source, regions,
        [&](const at::Tensor& codes) { return both_strands ? pair.mean_scores(codes) : pair.scores(codes); },
        [&](const ProfileBatch& batch, const networks::ProfileHeads& heads) { figures.add(batch, heads); });
    return figures;
}

}  // namespace bigbird::profiles
