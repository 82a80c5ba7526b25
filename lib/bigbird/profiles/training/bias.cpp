// SPDX-License-Identifier: Apache-2.0
#include "bigbird/profiles/training/bias.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace bigbird::profiles {

namespace {

constexpr double peak_quantile = 0.01;
constexpr double largest_factor_effect = 0.1;  // 10 % more reads

}  // namespace

std::vector<Region> quiet_regions(const WindowSource& source, std::span<const Region> background,
                                  std::span<const Region> peaks, double factor) {
    std::vector<double> totals;
    for (const Region& peak : peaks)
        totals.push_back(static_cast<double>(source.total(peak)));
    const double most = factor * quantile(std::move(totals), peak_quantile);
    std::vector<Region> quiet;
    for (const Region& region : background) {
        const auto total = static_cast<double>(source.total(region));
        if (total > 0 && total < most) quiet.push_back(region);
    }
    return quiet;
}

bool BiasTrial::is_sound() const {
    return pearson_background > 0 && factor_effect < largest_factor_effect;
}

Json to_json(const BiasTrial& trial) {
    return {{"threshold", trial.factor},
            {"regions", trial.regions},
            {"pearson_background", trial.pearson_background},
            {"pearson_peaks", trial.pearson_peaks},
            {"profile_jsd", trial.profile_jsd},
            {"profile_jsd_flat", trial.profile_jsd_flat},
            {"enzyme_marginal", trial.enzyme},
            {"factor_effect", trial.factor_effect},
            {"factor", trial.factor_name},
            {"sound", trial.is_sound()}};
}

std::size_t best_trial(std::span<const BiasTrial> trials) {
    const auto cost = [](const BiasTrial& trial) {
        return trial.is_sound() ? trial.profile_jsd : 1 + trial.factor_effect;  // a distance is below 1
    };
    return static_cast<std::size_t>(std::ranges::min_element(trials, {}, cost) - trials.begin());
}

BiasTrial judge_bias(const networks::ProfileNet& bias, const WindowSource& source,
                     const JudgedRegions& regions) {
    BiasTrial trial;
    const ProfilePair alone{bias};
    const ProfileFigures background = figures_of(alone, source, regions.background),
                         peaks = figures_of(alone, source, regions.peaks);
    trial.pearson_background = background.pearson().value_or(0);
    trial.pearson_peaks = peaks.pearson().value_or(0);
    trial.profile_jsd = background.distances.weighted();
    trial.profile_jsd_flat = background.distances.weighted_uniform();
    const auto scores = [&](const at::Tensor& codes) { return alone.scores(codes); };
    for (const ProbeMotif& motif : enzyme_motifs(regions.dnase))
        trial.enzyme = std::max(trial.enzyme, static_cast<double>(source.output()) *
                                                  marginal_of(scores, regions.dna, motif.sequence).most());
    for (const ProbeMotif& motif : factor_motifs()) {
        const double effect = count_effect(scores, regions.dna, motif.sequence);
        if (!trial.factor_name.empty() && effect <= trial.factor_effect) continue;
        trial.factor_effect = effect;
        trial.factor_name = motif.name;
    }
    return trial;
}

KmerBias count_kmers(int k, const WindowSource& source, std::span<const Region> background) {
    KmerBias table(k);
    std::vector<float> counts(static_cast<std::size_t>(source.output()));
    for (const Region& region : background) {
        source.counts({region}, counts);
        table.add(source.dna({region}), counts);
    }
    return table;
}

networks::ProfileNet kmer_network(const KmerBias& table, std::int64_t input, std::int64_t output) {
    const std::vector<float> odds = table.log_odds();
    const std::int64_t k = table.bases(), width = k + 1 - k % 2, kmers = std::ssize(odds);
    networks::ProfileNet net(
        std::vector{std::pair(std::string("bias"), networks::ProfileShape{.filters = kmers,
                                                                          .layers = 0,
                                                                          .stem = width,
                                                                          .head = 1,
                                                                          .input = input,
                                                                          .output = output,
                                                                          .counts = input - width + 1})});
    const at::NoGradGuard no_gradients;
    // relu(number of matching letters - k + 1) is 1 for the k-mer and 0 for all others. A filter's middle is
    // the base, as in KmerBias: of an even k the last tap is unused.
    auto parameters = net->named_parameters();
    at::Tensor stem = parameters["bias.stem.weight"];
    for (std::int64_t kmer = 0; kmer < kmers; ++kmer)
        for (std::int64_t i = 0; i < k; ++i)
            stem[kmer][(kmer >> (2 * (k - 1 - i))) & 3][i] = 1;
    parameters["bias.stem.bias"].fill_(1 - static_cast<double>(k));
    parameters["bias.profile.weight"].view({kmers}).copy_(at::tensor(odds));
    for (at::Tensor& parameter : net->parameters())
        parameter.set_requires_grad(false);
    net->eval();
    return net;
}

double scale_counts(const networks::ProfileNet& bias, const WindowSource& source,
                    std::span<const Region> regions) {
    double sum = 0;
    for_each_prediction(
        source, regions, [&](const at::Tensor& codes) { return bias.ptr()->scores(codes); },
        [&](const ProfileBatch& batch, const networks::ProfileHeads& heads) {
            const at::Tensor observed = batch.counts.sum(at::IntArrayRef{1}).log1p();
            sum += (observed - heads.counts.squeeze(1)).sum().item<double>();
        });
    const double mean = sum / static_cast<double>(std::max<std::size_t>(regions.size(), 1));
    const at::NoGradGuard no_gradients;
    bias->output_bias().add_(mean);
    return mean;
}

std::vector<std::string> sequences_of(const WindowSource& source, std::span<const Region> regions,
                                      std::size_t most) {
    std::vector<std::string> all;
    for (const Region& region : some_of(regions, most))
        all.push_back(source.dna({region}));
    return all;
}

}  // namespace bigbird::profiles
