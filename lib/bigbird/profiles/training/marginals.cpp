// SPDX-License-Identifier: Apache-2.0
#include "bigbird/profiles/training/marginals.hpp"

#include "bigbird/bins/network.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/rng.hpp"
#include "bigbird/genome/reference/sequence.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>

namespace bigbird::profiles {

namespace {

constexpr std::array<ProbeMotif, 5> of_tn5{{{"Tn5 1", "GCACAGTACAGAGCTG"},
                                            {"Tn5 2", "GTGCACAGTTCTAGAGTGTGCAG"},
                                            {"Tn5 3", "CCTCTACACTGTGCAGAA"},
                                            {"Tn5 4", "GCACAGTTCTAGACTGTGCAG"},
                                            {"Tn5 5", "CTGCACAGTGTAGAGTTGTGC"}}};
constexpr std::array<ProbeMotif, 2> of_dnase{{{"DNase 1", "TTTACAAGTCCA"}, {"DNase 2", "TGTACTTACGAA"}}};
constexpr std::array<ProbeMotif, 10> of_factors{{{"CTCF", "TTGGCCACTAGGGGGCGCTAT"},
                                                 {"AP-1", "CGATATGACTCATCCC"},
                                                 {"NRF1", "GCGCATGCGC"},
                                                 {"ETS", "ACCGGAAGTG"},
                                                 {"SP1", "GGGGGCGGGG"},
                                                 {"NFY", "AGCCAATCAG"},
                                                 {"Reb1", "CGGGTAACG"},
                                                 {"Abf1", "ATCGTATTAAATGATA"},
                                                 {"Rap1", "ACACCCATACATT"},
                                                 {"Cbf1", "GGTCACGTGAC"}}};
constexpr std::size_t inserted_at_once = 64;

}  // namespace

std::span<const ProbeMotif> enzyme_motifs(bool dnase) {
    return dnase ? std::span<const ProbeMotif>(of_dnase) : std::span<const ProbeMotif>(of_tn5);
}

std::span<const ProbeMotif> factor_motifs() {
    return of_factors;
}

double Marginal::most() const {
    return profile.empty() ? 0 : std::ranges::max(profile);
}

Marginal marginal_of(const ScoreCodes& scores, std::span<const std::string> backgrounds,
                     std::string_view motif) {
    const at::NoGradGuard no_gradients;
    at::Tensor sum;
    Marginal marginal;
    const auto count = static_cast<double>(backgrounds.size());
    for (std::size_t begin = 0; begin < backgrounds.size(); begin += inserted_at_once) {
        stop_if_asked();
        at::Tensor reads;  // of both strands, (windows, output)
        for (const bool reverse : {false, true}) {
            std::vector<at::Tensor> codes;
            for (std::string dna :
                 backgrounds.subspan(begin, std::min(inserted_at_once, backgrounds.size() - begin))) {
                dna.replace(dna.size() / 2 - motif.size() / 2, motif.size(), motif);
                codes.push_back(bins::codes_of(reverse ? genome::reverse_complement(dna) : dna));
            }
            const networks::ProfileHeads heads = scores(at::stack(codes));
            const at::Tensor counts = heads.counts.to(at::kDouble),
                             own = heads.profile.squeeze(2).to(at::kDouble).softmax(1) * counts.expm1();
            reads = reverse ? reads + own.flip({1}) : own;
            marginal.log_count += counts.sum().item<double>() / 2 / count;
        }
        const at::Tensor shares = (reads / reads.sum({1}, true)).sum(at::IntArrayRef{0}) / count;
        sum = sum.defined() ? sum + shares : shares;
    }
    if (!sum.defined()) return marginal;
    const at::Tensor values = sum.contiguous();
    const double* from = values.const_data_ptr<double>();
    marginal.profile.assign(from, from + values.numel());
    return marginal;
}

double count_effect(const ScoreCodes& scores, std::span<const std::string> backgrounds,
                    std::string_view motif) {
    constexpr int shuffles = 5;
    double of_shuffles = 0;
    Rng rng = Rng(0).split(motif);
    for (int i = 0; i < shuffles; ++i) {
        std::string letters(motif);
        shuffle(letters, rng);
        of_shuffles += marginal_of(scores, backgrounds, letters).log_count / shuffles;
    }
    return marginal_of(scores, backgrounds, motif).log_count - of_shuffles;
}

}  // namespace bigbird::profiles
