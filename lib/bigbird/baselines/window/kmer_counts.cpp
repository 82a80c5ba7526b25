// SPDX-License-Identifier: Apache-2.0
#include "bigbird/baselines/window/kmer_counts.hpp"

#include "bigbird/baselines/window/base_codes.hpp"
#include "bigbird/core/error.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace bigbird::baselines {

namespace {

constexpr int longest_word = 8;
constexpr std::int64_t dinucleotides = 16;

/// Calls use(first base, word) for each word of `length` letters without N.
template <typename Use>
void for_words(std::span<const std::int32_t> bases, int length, const Use& use) {
    const std::size_t mask = (std::size_t{1} << (2U * static_cast<unsigned>(length))) - 1;
    std::size_t word = 0;
    std::int64_t known = 0;
    for (std::int64_t end = 1; end <= std::ssize(bases); ++end) {
        const std::int32_t code = bases[static_cast<std::size_t>(end - 1)];
        known = code < code_of_n ? known + 1 : 0;
        word = ((word << 2U) | static_cast<std::size_t>(code & 3)) & mask;
        if (known >= length) use(end - length, word);
    }
}

}  // namespace

KmerCounts::KmerCounts(const KmerWords& words) : positions_(words.positions) {
    for (const int length : words.lengths) {
        if (length < 1 || length > longest_word) {
            throw ConfigError("k-mers have 1 to " + std::to_string(longest_word) + " bases, not " +
                              std::to_string(length));
        }
        Words& counted = words_.emplace_back();
        counted.length = length;
        const std::size_t all = std::size_t{1} << (2U * static_cast<unsigned>(length));
        counted.feature.resize(all);
        for (std::size_t word = 0; word < all; ++word) {
            const std::size_t other = words.both_strands ? reverse_complement(word, length) : word;
            counted.feature[word] =
                other < word ? counted.feature[other] : static_cast<std::int32_t>(size_++);
        }
    }
    first_position_ = size_;
    size_ += std::max<std::int64_t>(0, positions_) * dinucleotides;
    if (size_ == 0) throw ConfigError("there are no k-mers to count");
}

void KmerCounts::add_counts(const Words& words, std::span<const std::int32_t> bases,
                            std::vector<Feature>& features) const {
    std::vector<std::int32_t> found;
    for_words(bases, words.length,
              [&](std::int64_t, std::size_t word) { found.push_back(words.feature[word]); });
    std::ranges::sort(found);
    for (auto begin = found.begin(); begin != found.end();) {
        const auto end =
            std::find_if(begin, found.end(), [&](std::int32_t other) { return other != *begin; });
        features.push_back({*begin, std::sqrt(static_cast<float>(end - begin))});
        begin = end;
    }
}

std::vector<Feature> KmerCounts::count(std::span<const std::int32_t> bases) const {
    std::vector<Feature> features;
    for (const Words& words : words_)
        add_counts(words, bases, features);
    const auto placed = std::min<std::int64_t>(positions_ + 1, std::ssize(bases));
    if (positions_ > 0) {
        for_words(
            bases.first(static_cast<std::size_t>(placed)), 2,
            [&](std::int64_t position, std::size_t word) {
                const std::int64_t index =
                    first_position_ + position * dinucleotides + static_cast<std::int64_t>(word);
                features.push_back({static_cast<std::int32_t>(index), 1});
            });
    }
    return features;
}

}  // namespace bigbird::baselines
