// SPDX-License-Identifier: Apache-2.0
#include "bigbird/profiles/kmer_bias.hpp"

#include "bigbird/core/error.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <string>

namespace bigbird::profiles {

namespace {

/// Calls use(i, k-mer) for each base i of the `output` in the middle whose k-mer has no N and is inside.
template <typename Use>
void for_each_kmer(std::string_view dna, std::int64_t output, int k, const Use& use) {
    const std::int64_t first = (std::ssize(dna) - output) / 2;
    for (std::int64_t i = 0; i < output; ++i) {
        const std::int64_t begin = first + i - k / 2;
        if (begin < 0 || begin + k > std::ssize(dna)) continue;
        std::size_t kmer = 0;
        bool known = true;
        for (const char letter : dna.substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(k))) {
            const std::size_t code = std::string_view("ACGT").find(letter);
            known = known && code != std::string_view::npos;
            kmer = 4 * kmer + code;
        }
        if (known) use(static_cast<std::size_t>(i), kmer);
    }
}

}  // namespace

KmerBias::KmerBias(int k) : k_(k) {
    if (k < 1 || k > most_bases)
        throw ConfigError("--bias kmers:N takes 1 to " + std::to_string(most_bases) + " bases, not " +
                          std::to_string(k));
    sites_.resize(std::size_t{1} << (2 * k));
    occurrences_.resize(sites_.size());
}

void KmerBias::add(std::string_view dna, std::span<const float> counts) {
    for_each_kmer(
        dna, std::ssize(counts), k_,
        [&](std::size_t i, std::size_t kmer) {
            sites_[kmer] += counts[i];
            ++occurrences_[kmer];
        });
}

std::vector<float> KmerBias::log_odds() const {
    const double all = std::reduce(sites_.begin(), sites_.end()),
                 bases = std::reduce(occurrences_.begin(), occurrences_.end());
    std::vector<float> odds(sites_.size());
    if (all == 0) return odds;
    const double rate = all / bases;
    for (std::size_t kmer = 0; kmer < odds.size(); ++kmer)
        odds[kmer] = static_cast<float>(std::log((sites_[kmer] + 1) / (occurrences_[kmer] * rate + 1)));
    return odds;
}

void KmerBias::logits(std::span<const float> log_odds, std::string_view dna, std::span<float> logits) {
    std::ranges::fill(logits, 0.0F);
    const int k = (static_cast<int>(std::bit_width(log_odds.size())) - 1) / 2;
    for_each_kmer(dna, std::ssize(logits), k,
                  [&](std::size_t i, std::size_t kmer) { logits[i] = log_odds[kmer]; });
}

}  // namespace bigbird::profiles
