// SPDX-License-Identifier: Apache-2.0
#include "bigbird/bins/motif_search.hpp"

#include "bigbird/core/parallel.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace bigbird::bins {

namespace {

constexpr std::int64_t codes_per_position = 5, word_count = 1 << (2 * word_length);
constexpr std::int64_t strata = 11;  // strata of GC content, each 5 % wide, from 22.5 % to 77.5 %

/// Counts the bins that contain a word on either strand.
class WordCounter {
public:
    /// Adds 1 to counts[word] for each word of a bin, however often it occurs.
    void count(std::span<const std::uint8_t> codes, std::span<double> counts) {
        ++bins_;
        std::int32_t word = 0, other = 0;
        std::int64_t letters_before = 0;
        for (const std::uint8_t code : codes) {
            letters_before = code < letter_count ? letters_before + 1 : 0;
            const std::int32_t letter = code & 3;
            word = (word << 2 | letter) & (word_count - 1);
            other = other >> 2 | (3 - letter) << (2 * (word_length - 1));
            if (letters_before < word_length) continue;
            const std::int32_t least = std::min(word, other);
            if (std::exchange(last_bin_[index(least)], bins_) != bins_) counts[index(least)] += 1;
        }
    }

private:
    std::vector<std::int32_t> last_bin_ = std::vector<std::int32_t>(word_count);  // last bin with the word
    std::int32_t bins_ = 0;
};

std::int64_t stratum_of(std::span<const std::uint8_t> codes) {
    const auto gc = std::ranges::count_if(codes, [](std::uint8_t code) { return code == 1 || code == 2; });
    const double share = static_cast<double>(gc) / static_cast<double>(codes.size());
    return std::clamp(std::llround(share * 20) - 5, 0LL, static_cast<long long>(strata - 1));
}

/// The share of a stratum's bins with each word, (strata, words), with pseudocounts that favor low shares.
std::vector<double> background_rates(const LabelledSequence& bins) {
    std::vector<double> rates(index(strata * word_count), 1.0);
    std::array<double, strata> sizes{};
    WordCounter counter;
    for (std::int64_t bin = 0; bin < bins.background; ++bin) {
        const std::int64_t stratum = stratum_of(bins.codes_of(bin));
        sizes[index(stratum)] += 1;
        counter.count(bins.codes_of(bin),
                      std::span(rates).subspan(index(stratum * word_count), index(word_count)));
    }
    for (std::int64_t i = 0; i < std::ssize(rates); ++i)
        rates[index(i)] /= sizes[index(i / word_count)] + 20;
    return rates;
}

std::vector<SeedWord> words_of(const LabelledSequence& bins, std::int64_t label,
                               std::span<const double> rates, std::int64_t most) {
    constexpr double fewest = 4;
    std::vector<double> seen(index(word_count)), expected(index(word_count));
    std::array<double, strata> mine{};
    WordCounter counter;
    for (const std::int32_t bin : bins.with[index(label)]) {
        mine[index(stratum_of(bins.codes_of(bin)))] += 1;
        counter.count(bins.codes_of(bin), seen);
    }
    for (std::int64_t i = 0; i < std::ssize(rates); ++i)
        expected[index(i % word_count)] += mine[index(i / word_count)] * rates[index(i)];
    std::vector<SeedWord> words;
    for (std::int32_t word = 0; word < word_count; ++word) {
        const double much = expected[index(word)];
        if (seen[index(word)] >= fewest)
            words.push_back({(seen[index(word)] - much) / std::sqrt(much + 1), label, word});
    }
    std::ranges::stable_sort(words, std::greater{}, &SeedWord::z);
    words.resize(std::min(words.size(), index(most)));
    return words;
}

}  // namespace

std::vector<SeedWord> seed_words(const LabelledSequence& bins, const MotifSearch& search, int threads) {
    const std::vector<double> rates = background_rates(bins);
    std::vector<std::vector<SeedWord>> found(bins.with.size());
    parallel_for(bins.labels(), threads, [&](std::int64_t label) {
        if (std::ssize(bins.with[index(label)]) >= search.fewest_bins)
            found[index(label)] = words_of(bins, label, rates, search.words);
    });
    std::vector<SeedWord> all;
    for (const std::vector<SeedWord>& some : found)
        all.insert(all.end(), some.begin(), some.end());
    std::ranges::stable_sort(all, std::greater{}, &SeedWord::z);
    return all;
}

MotifScanner::MotifScanner(std::span<const float> odds, std::int64_t width)
    : width_(width), odds_(index(width * codes_per_position)) {
    for (std::int64_t i = 0; i < width; ++i) {
        Both* const here = &odds_[index(i * codes_per_position)];
        Both* const there = &odds_[index((width - 1 - i) * codes_per_position)];
        float sum = 0;
        for (std::int64_t letter = 0; letter < letter_count; ++letter) {
            const float value = odds[index(i * letter_count + letter)];
            here[letter].forward = value;
            there[letter_count - 1 - letter].reverse = value;
            sum += value;
        }
        here[letter_count].forward = there[letter_count].reverse = sum / letter_count;
    }
}

Site MotifScanner::best(std::span<const std::uint8_t> codes) const {
    Site site;
    const std::int64_t last = std::ssize(codes) - width_;
    for (std::int64_t begin = 0; begin <= last; ++begin) {
        const std::uint8_t* const code = &codes[index(begin)];
        const Both* position = odds_.data();
        Both sum;
        for (std::int64_t i = 0; i < width_; ++i, position += codes_per_position) {
            sum.forward += position[code[i]].forward;
            sum.reverse += position[code[i]].reverse;
        }
        if (sum.forward > site.score) site = {sum.forward, begin, false};
        if (sum.reverse > site.score) site = {sum.reverse, begin, true};
    }
    return site;
}

}  // namespace bigbird::bins
