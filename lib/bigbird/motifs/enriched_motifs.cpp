// SPDX-License-Identifier: Apache-2.0
#include "bigbird/motifs/enriched_motifs.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parallel.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

namespace bigbird::motifs {

namespace {

constexpr std::int64_t word_length = 8, letter_count = 4;
constexpr std::int64_t codes_per_position = 5, word_count = 1 << (2 * word_length);
constexpr std::int64_t strata = 11;  // strata of GC content, each 5 % wide, from 22.5 % to 77.5 %

std::size_t index(std::int64_t i) {
    return static_cast<std::size_t>(i);
}

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

Aligner::Aligner(std::span<const float> odds)
    : width_(std::ssize(odds) / letter_count), odds_(index(width_ * codes_per_position)) {
    for (std::int64_t i = 0; i < width_; ++i) {
        Both* const here = &odds_[index(i * codes_per_position)];
        Both* const there = &odds_[index((width_ - 1 - i) * codes_per_position)];
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

BestSite Aligner::best(std::span<const std::uint8_t> codes) const {
    BestSite site;
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

namespace {

constexpr std::size_t sample_step = 8;     // one in 8 bins is used for the threshold of a site,
constexpr std::size_t most_others = 4096;  // at most 4,096 bins
constexpr std::int64_t most_tried = 700;   // maximum number of words that start an alignment
constexpr std::int64_t alignments = 5, fewest_aligned = 6;
constexpr double common = 0.03;         // share of the bins without a label that may have its motif
constexpr double most_alike = 0.75;     // largest correlation of two kept motifs
constexpr double least_enriched = 3;    // minimum share of the label's bins with the motif over `common`
constexpr double pseudocount = 1.5;     // pseudocount in sites, with background frequencies
constexpr std::int64_t most_moved = 5;  // largest offset between two compared motifs
constexpr float seed_match = 1.3F, seed_mismatch = -1.5F;

/// A motif that is being aligned.
struct Candidate {
    std::vector<float> odds{};  ///< of the letters, (width, 4)
    std::int64_t label = 0;     ///< the label whose bins it is found in
    Motif motif{};
};

class Search {
public:
    Search(const LabelledSequence& bins, const MotifSearch& search, int threads)
        : bins_(bins), search_(search), threads_(threads) {
        Shares counts{1, 1, 1, 1};
        for (const std::uint8_t code : bins.codes_of(0, bins.background))
            if (code < letter_count) ++counts[code];
        const double sum = counts[0] + counts[1] + counts[2] + counts[3];
        for (std::size_t letter = 0; letter < letter_count; ++letter) {  // of both strands
            background_[letter] = (counts[letter] + counts[3 - letter]) / (2 * sum);
            pseudocounts_[letter] = pseudocount * background_[letter];
        }
    }
    MotifSet run() const {
        std::vector<Candidate> kept;
        std::int64_t tried = 0;
        for (const SeedWord& seed : seed_words(bins_, search_, threads_)) {
            if (std::ssize(kept) >= search_.most || tried == most_tried) break;
            Candidate candidate = begun_by(seed);
            const auto is_known = [&] {
                return std::ranges::any_of(kept, [&](const Candidate& other) {
                    return likeness(candidate.odds, other.odds) > most_alike;
                });
            };
            if (is_known()) continue;
            ++tried;
            if (refine(candidate) && !is_known()) kept.push_back(std::move(candidate));
        }
        MotifSet set{.background = background_};
        for (Candidate& candidate : kept) {
            candidate.motif.id = fmt::format("motif_{}", set.motifs.size() + 1);
            if (!bins_.names.empty()) candidate.motif.name = bins_.names[index(candidate.label)];
            std::ranges::replace(candidate.motif.name, ' ', '_');
            set.motifs.push_back(std::move(candidate.motif));
        }
        return set;
    }

private:
    /// Bins of the background without the label, evenly spaced.
    std::vector<std::int64_t> some_without(std::int64_t label) const {
        auto with = bins_.with[index(label)].begin();
        const auto end = bins_.with[index(label)].end();
        std::vector<std::int64_t> others;
        for (std::int64_t bin = 0; bin < bins_.background; ++bin)
            if (with != end && *with == bin)
                ++with;
            else
                others.push_back(bin);
        const std::size_t step = std::max(sample_step, (others.size() + most_others - 1) / most_others);
        for (std::size_t i = 0; i * step < others.size(); ++i)
            others[i] = others[i * step];
        others.resize((others.size() + step - 1) / step);
        return others;
    }

    Candidate begun_by(const SeedWord& seed) const {
        Candidate candidate{.odds = std::vector<float>(index(search_.width * letter_count)),
                            .label = seed.label};
        const std::int64_t first = (search_.width - word_length) / 2;
        for (std::int64_t i = 0; i < word_length; ++i) {
            const std::int32_t own = seed.word >> (2 * (word_length - 1 - i)) & 3;
            for (std::int32_t letter = 0; letter < letter_count; ++letter)
                candidate.odds[index((first + i) * letter_count + letter)] =
                    letter == own ? seed_match : seed_mismatch;
        }
        return candidate;
    }

    /// The best site of each bin.
    template <typename Bins>
    std::vector<BestSite> sites_in(const Bins& bins, const Aligner& aligner) const {
        std::vector<BestSite> sites(bins.size());
        parallel_for(std::ssize(bins), threads_,
                     [&](std::int64_t i) { sites[index(i)] = aligner.best(bins_.codes_of(bins[index(i)])); });
        return sites;
    }

    /// The score that about one in 33 of these sites reaches.
    static float usual_best(std::vector<BestSite> sites) {
        const auto nth =
            sites.begin() + static_cast<std::ptrdiff_t>(static_cast<double>(sites.size()) * (1 - common));
        std::ranges::nth_element(sites, nth, {}, &BestSite::score);
        return nth->score;
    }

    /// False if too few of the label's bins have the motif.
    bool refine(Candidate& candidate) const {
        const std::vector<std::int32_t>& with = bins_.with[index(candidate.label)];
        const std::vector<std::int64_t> others = some_without(candidate.label);
        if (others.empty()) return false;
        Motif& motif = candidate.motif;
        for (std::int64_t round = 0; round < alignments; ++round) {
            const Aligner aligner(candidate.odds);
            const float least = usual_best(sites_in(others, aligner));
            motif.shares.assign(index(search_.width), pseudocounts_);
            motif.sites = 0;
            const std::vector<BestSite> sites = sites_in(with, aligner);
            for (std::size_t i = 0; i < with.size(); ++i) {
                if (sites[i].score < least) continue;
                ++motif.sites;
                count_letters(bins_.codes_of(with[i]).subspan(index(sites[i].begin), index(search_.width)),
                              sites[i].reverse, motif.shares);
            }
            if (motif.sites < fewest_aligned) return false;
            for (Shares& column : motif.shares) {
                const double sum = column[0] + column[1] + column[2] + column[3];
                for (double& share : column)
                    share /= sum;
            }
            candidate.odds = odds_of(motif, background_);
        }
        return static_cast<double>(motif.sites) / static_cast<double>(with.size()) / common >= least_enriched;
    }

    static void count_letters(std::span<const std::uint8_t> site, bool reverse, std::vector<Shares>& counts) {
        for (std::size_t i = 0; i < site.size(); ++i) {
            const std::uint8_t code = reverse ? site[site.size() - 1 - i] : site[i];
            if (code < letter_count) counts[i][reverse ? 3U - code : code] += 1;
        }
    }

    /// The best correlation of two motifs over offsets and strands.
    double likeness(std::span<const float> one, std::span<const float> other) const {
        const auto dot = [](std::span<const float> a, std::span<const float> b) {
            return std::inner_product(a.begin(), a.end(), b.begin(), 0.0, std::plus<>(),
                                      [](double x, double y) { return x * y; });
        };
        const double norms = std::sqrt(dot(one, one) * dot(other, other));
        double best = -1;
        const std::vector<float> turned(other.rbegin(), other.rend());
        for (const std::span<const float> second : {other, std::span<const float>(turned)}) {
            for (std::int64_t moved = -most_moved; moved <= most_moved; ++moved) {
                const std::int64_t begin = std::max<std::int64_t>(0, moved * letter_count);
                const std::size_t size = one.size() - index(std::abs(moved) * letter_count);
                const double product = dot(one.subspan(index(begin), size),
                                           second.subspan(index(begin - moved * letter_count), size));
                best = std::max(best, product / norms);
            }
        }
        return best;
    }

    const LabelledSequence& bins_;
    MotifSearch search_;
    int threads_;
    Shares background_{}, pseudocounts_{};
};

}  // namespace

std::vector<float> odds_of(const Motif& motif, const Shares& background) {
    std::vector<float> odds;
    for (const Shares& column : motif.shares)
        for (std::size_t letter = 0; letter < column.size(); ++letter)
            odds.push_back(static_cast<float>(std::log2(column[letter] / background[letter])));
    return odds;
}

MotifSet find_enriched(const LabelledSequence& bins, const MotifSearch& search, int threads) {
    if (search.width < least_motif_width || search.width > bins.length) {
        throw ConfigError("motifs must be between " + std::to_string(least_motif_width) + " and " +
                          std::to_string(bins.length) + " bases wide, not " + std::to_string(search.width) +
                          "; --motifs 0 begins all filters at random");
    }
    return bins.bins() == 0 ? MotifSet() : Search(bins, search, threads).run();
}

}  // namespace bigbird::motifs
