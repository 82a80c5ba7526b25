// SPDX-License-Identifier: Apache-2.0
#include "bigbird/baselines/window/gapped_kmers.hpp"

#include "bigbird/baselines/window/base_codes.hpp"
#include "bigbird/core/check.hpp"
#include "bigbird/core/error.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <numbers>
#include <string>

namespace bigbird::baselines {

namespace {

constexpr int longest_gapped_word = 12;

/// Every choice of `chosen` of the positions 0 … word - 1.
std::vector<std::vector<int>> choices(int word, int chosen) {
    std::vector<std::vector<int>> all;
    for (unsigned bits = 0; bits < 1U << static_cast<unsigned>(word); ++bits) {
        if (std::popcount(bits) != chosen) continue;
        std::vector<int>& positions = all.emplace_back();
        for (unsigned rest = bits; rest != 0; rest &= rest - 1)
            positions.push_back(std::countr_zero(rest));
    }
    return all;
}

}  // namespace

GappedKmers::GappedKmers(int word, int informative) : word_(word), informative_(informative) {
    if (informative < 1 || informative > word || word > longest_gapped_word) {
        throw ConfigError("--kmer-length " + std::to_string(word) + ":" + std::to_string(informative) +
                          ": of N:K, 1 <= K <= N <= " + std::to_string(longest_gapped_word) + " is needed");
    }
    masks_ = choices(word, informative);
    const std::size_t kmers = std::size_t{1} << (2U * static_cast<unsigned>(informative));
    const std::size_t gapped = masks_.size() * kmers;
    if (gapped > most_features) {
        throw ConfigError("--kmer-length " + std::to_string(word) + ":" + std::to_string(informative) +
                          " makes " + std::to_string(gapped) + " gapped k-mers; at most " +
                          std::to_string(most_features) + " are held");
    }
    std::map<std::vector<int>, std::size_t> number_of;
    for (std::size_t mask = 0; mask < masks_.size(); ++mask)
        number_of[masks_[mask]] = mask;
    feature_.assign(gapped, -1);
    for (std::size_t mask = 0; mask < masks_.size(); ++mask) {
        std::vector<int> mirrored;
        for (const int position : masks_[mask])
            mirrored.insert(mirrored.begin(), word - 1 - position);
        const std::size_t other = number_of.at(mirrored);
        for (std::size_t letters = 0; letters < kmers; ++letters) {
            const std::size_t here = mask * kmers + letters;
            const std::size_t there = other * kmers + reverse_complement(letters, informative);
            if (feature_[here] >= 0) continue;
            feature_[here] = feature_[there] = static_cast<std::int32_t>(size_++);
            palindrome_.push_back(here == there);
        }
    }
}

std::int64_t GappedKmers::count(std::span<const std::int32_t> bases, std::span<float> out) const {
    BIGBIRD_EXPECTS(out.size() == size_, "room for every feature");
    std::ranges::fill(out, 0.0F);
    const std::size_t kmers = std::size_t{1} << (2U * static_cast<unsigned>(informative_));
    std::int64_t words = 0, since_n = 0;
    for (std::size_t end = 1; end <= bases.size(); ++end) {
        since_n = bases[end - 1] == code_of_n ? 0 : since_n + 1;
        if (since_n < word_) continue;
        ++words;
        const std::int32_t* letters = bases.data() + end - static_cast<std::size_t>(word_);
        for (std::size_t mask = 0; mask < masks_.size(); ++mask) {
            std::size_t code = 0;
            for (const int position : masks_[mask])
                code = code << 2U | static_cast<std::size_t>(letters[position]);
            out[static_cast<std::size_t>(feature_[mask * kmers + code])] += 1;
        }
    }
    // A word counts once on each strand. Each of a pair of gapped k-mers then has this count, so the pair
    // adds twice its square; a gapped k-mer that is its own reverse complement has twice the count.
    for (std::size_t feature = 0; feature < size_; ++feature)
        out[feature] *= palindrome_[feature] ? 2.0F : std::numbers::sqrt2_v<float>;
    return words;
}

}  // namespace bigbird::baselines
