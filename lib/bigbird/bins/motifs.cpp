// SPDX-License-Identifier: Apache-2.0
#include "bigbird/bins/motifs.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/parallel.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace bigbird::bins {

namespace {

constexpr std::int64_t letters = 4, word_length = 8, word_count = 1 << (2 * word_length);
constexpr std::int64_t strata = 11;     // of GC content, each 5 % wide, from 22.5 % to 77.5 %
constexpr std::size_t sample_step = 8;  // one in so many bins sets the threshold of a site
constexpr std::int64_t rounds = 5, fewest_sites = 6;
constexpr double common = 0.03;       // part of the bins without a label that may have its motif
constexpr double most_alike = 0.75;   // correlation of two motifs
constexpr double least_enriched = 3;  // see Motif
constexpr double pseudocount = 1.5;   // sites that look like any sequence
constexpr std::int64_t farthest = 5;  // that two motifs are moved against each other when compared
constexpr float seed_match = 1.3F, seed_mismatch = -1.5F;

using Letters = std::array<double, letters>;

std::size_t index(std::int64_t i) {
    return static_cast<std::size_t>(i);
}

/// What a window scores at each place by its letter, N by the mean of all; and the same for the other strand.
class Scanner {
public:
    Scanner(std::span<const float> odds, std::int64_t width) : width_(width) {
        forward_.resize(index(width * 5));
        reverse_.resize(index(width * 5));
        for (std::int64_t i = 0; i < width; ++i) {
            float sum = 0;
            for (std::int64_t letter = 0; letter < letters; ++letter) {
                const float value = odds[index(i * letters + letter)];
                forward_[index(i * 5 + letter)] = value;
                reverse_[index((width - 1 - i) * 5 + letters - 1 - letter)] = value;
                sum += value;
            }
            forward_[index(i * 5 + letters)] = reverse_[index((width - 1 - i) * 5 + letters)] = sum / letters;
        }
    }
    struct Site {
        float score = -std::numeric_limits<float>::infinity();
        std::int64_t begin = 0;
        bool reverse = false;
    };
    /// The first of the best ones, this strand's before the other's.
    Site best(std::span<const std::uint8_t> codes) const {
        Site site;
        const std::int64_t last = std::ssize(codes) - width_;
        for (std::int64_t begin = 0; begin <= last; ++begin) {
            float forward = 0, reverse = 0;
            for (std::int64_t i = 0; i < width_; ++i) {
                const std::size_t at = index(i * 5 + codes[index(begin + i)]);
                forward += forward_[at];
                reverse += reverse_[at];
            }
            if (forward > site.score) site = {forward, begin, false};
            if (reverse > site.score) site = {reverse, begin, true};
        }
        return site;
    }

private:
    std::int64_t width_;
    std::vector<float> forward_, reverse_;
};

/// Words that a bin holds, each once, the lesser of a word and its reverse complement.
std::vector<std::int32_t> words_of(std::span<const std::uint8_t> codes) {
    std::vector<std::int32_t> words;
    std::int32_t word = 0, other = 0;
    std::int64_t letters_before = 0;
    for (const std::uint8_t code : codes) {
        letters_before = code < letters ? letters_before + 1 : 0;
        const std::int32_t letter = code & 3;
        word = (word << 2 | letter) & (word_count - 1);
        other = other >> 2 | (3 - letter) << (2 * (word_length - 1));
        if (letters_before >= word_length) words.push_back(std::min(word, other));
    }
    std::ranges::sort(words);
    words.erase(std::ranges::unique(words).begin(), words.end());
    return words;
}

std::int64_t stratum_of(std::span<const std::uint8_t> codes) {
    const auto gc = std::ranges::count_if(codes, [](std::uint8_t code) { return code == 1 || code == 2; });
    const double share = static_cast<double>(gc) / static_cast<double>(codes.size());
    return std::clamp(std::llround(share * 20) - 5, 0LL, static_cast<long long>(strata - 1));
}

struct Seed {
    double z = 0;
    std::int64_t label = 0;
    std::int32_t word = 0;
};

class Search {
public:
    Search(const LabelledSequence& bins, const MotifSearch& search, int threads)
        : bins_(bins), search_(search), threads_(threads) {
        Letters counts{1, 1, 1, 1};
        for (const std::uint8_t code : bins.codes)
            if (code < letters) ++counts[code];
        const double sum = counts[0] + counts[1] + counts[2] + counts[3];
        for (std::size_t letter = 0; letter < letters; ++letter)  // of both strands
            background_[letter] = (counts[letter] + counts[3 - letter]) / (2 * sum);
    }
    std::vector<Motif> run() {
        std::vector<Motif> motifs;
        for (const Seed& seed : seeds()) {
            if (std::ssize(motifs) >= search_.most) break;
            Motif motif = begun_by(seed);
            const auto is_known = [&] {
                return std::ranges::any_of(motifs, [&](const Motif& other) {
                    return likeness(motif.odds, other.odds) > most_alike;
                });
            };
            if (is_known() || !refine(motif) || is_known()) continue;
            motifs.push_back(std::move(motif));
        }
        return motifs;
    }

private:
    std::span<const std::uint8_t> codes(std::int64_t bin) const {
        return std::span(bins_.codes).subspan(index(bin * bins_.length), index(bins_.length));
    }
    std::vector<std::int64_t> bins_of(std::int64_t label, bool with = true) const {
        std::vector<std::int64_t> chosen;
        for (std::int64_t bin = 0; bin < bins_.bins(); ++bin)
            if ((bins_.truth[index(bin * bins_.labels + label)] != 0) == with) chosen.push_back(bin);
        return chosen;
    }

    /// The words that each label's bins have too often, over what their GC content lets expect; most so
    /// first.
    std::vector<Seed> seeds() const {
        const auto count = index(bins_.bins());
        std::vector<std::vector<std::int32_t>> words(count);
        std::vector<std::int64_t> stratum(count);
        parallel_for(bins_.bins(), threads_, [&](std::int64_t bin) {
            words[index(bin)] = words_of(codes(bin));
            stratum[index(bin)] = stratum_of(codes(bin));
        });
        std::vector<double> rates(index(strata * word_count), 1.0);
        std::array<double, strata> sizes{};
        for (std::size_t bin = 0; bin < count; ++bin) {
            sizes[index(stratum[bin])] += 1;
            for (const std::int32_t word : words[bin])
                rates[index(stratum[bin] * word_count + word)] += 1;
        }
        for (std::int64_t i = 0; i < std::ssize(rates); ++i)
            rates[index(i)] /= sizes[index(i / word_count)] + 20;
        std::vector<std::vector<Seed>> found(index(bins_.labels));
        parallel_for(bins_.labels, threads_, [&](std::int64_t label) {
            const std::vector<std::int64_t> with = bins_of(label);
            if (std::ssize(with) < search_.fewest_bins) return;
            std::vector<double> seen(word_count), expected(word_count);
            std::array<double, strata> mine{};
            for (const std::int64_t bin : with) {
                mine[index(stratum[index(bin)])] += 1;
                for (const std::int32_t word : words[index(bin)])
                    seen[index(word)] += 1;
            }
            for (std::int64_t i = 0; i < std::ssize(rates); ++i)
                expected[index(i % word_count)] += mine[index(i / word_count)] * rates[index(i)];
            found[index(label)] = best_words(label, seen, expected);
        });
        std::vector<Seed> all;
        for (const std::vector<Seed>& some : found)
            all.insert(all.end(), some.begin(), some.end());
        std::ranges::stable_sort(all, std::greater{}, &Seed::z);
        return all;
    }

    std::vector<Seed> best_words(std::int64_t label, std::span<const double> seen,
                                 std::span<const double> expected) const {
        constexpr double fewest = 4;
        std::vector<Seed> words;
        for (std::int32_t word = 0; word < word_count; ++word) {
            const double much = expected[index(word)];
            if (seen[index(word)] >= fewest)
                words.push_back({(seen[index(word)] - much) / std::sqrt(much + 1), label, word});
        }
        std::ranges::stable_sort(words, std::greater{}, &Seed::z);
        words.resize(std::min(words.size(), index(search_.words)));
        return words;
    }

    Motif begun_by(const Seed& seed) const {
        Motif motif{.odds = std::vector<float>(index(search_.width * letters)), .label = seed.label};
        const std::int64_t first = (search_.width - word_length) / 2;
        for (std::int64_t i = 0; i < word_length; ++i) {
            const std::int32_t own = seed.word >> (2 * (word_length - 1 - i)) & 3;
            for (std::int32_t letter = 0; letter < letters; ++letter)
                motif.odds[index((first + i) * letters + letter)] =
                    letter == own ? seed_match : seed_mismatch;
        }
        return motif;
    }

    /// The score that one of `others` in thirty-three or so reaches.
    float usual_best(const Scanner& scanner, std::span<const std::int64_t> others) const {
        std::vector<float> scores((others.size() + sample_step - 1) / sample_step);
        parallel_for(std::ssize(scores), threads_, [&](std::int64_t i) {
            scores[index(i)] = scanner.best(codes(others[index(i) * sample_step])).score;
        });
        const auto place =
            scores.begin() + static_cast<std::ptrdiff_t>(static_cast<double>(scores.size()) * (1 - common));
        std::nth_element(scores.begin(), place, scores.end());
        return *place;
    }

    /// False where too few of the label's bins have the motif.
    bool refine(Motif& motif) const {
        const std::vector<std::int64_t> with = bins_of(motif.label), others = bins_of(motif.label, false);
        if (others.empty()) return false;
        for (std::int64_t round = 0; round < rounds; ++round) {
            const Scanner scanner(motif.odds, search_.width);
            const float least = usual_best(scanner, others);
            std::vector<Letters> counts(index(search_.width));
            for (Letters& place : counts)
                for (std::size_t letter = 0; letter < letters; ++letter)
                    place[letter] = pseudocount * background_[letter];
            motif.sites = 0;
            for (const std::int64_t bin : with) {
                const Scanner::Site site = scanner.best(codes(bin));
                if (site.score < least) continue;
                ++motif.sites;
                count_letters(codes(bin).subspan(index(site.begin), index(search_.width)), site.reverse,
                              counts);
            }
            motif.enrichment = static_cast<double>(motif.sites) / static_cast<double>(with.size()) / common;
            if (motif.sites < fewest_sites) return false;
            set_odds(motif, counts);
        }
        return motif.enrichment >= least_enriched;
    }

    static void count_letters(std::span<const std::uint8_t> site, bool reverse,
                              std::vector<Letters>& counts) {
        for (std::size_t i = 0; i < site.size(); ++i) {
            const std::uint8_t code = reverse ? site[site.size() - 1 - i] : site[i];
            if (code < letters) counts[i][reverse ? 3U - code : code] += 1;
        }
    }

    void set_odds(Motif& motif, const std::vector<Letters>& counts) const {
        for (std::size_t i = 0; i < counts.size(); ++i) {
            const Letters& place = counts[i];
            const double sum = place[0] + place[1] + place[2] + place[3];
            for (std::size_t letter = 0; letter < letters; ++letter)
                motif.odds[i * letters + letter] =
                    static_cast<float>(std::log2(place[letter] / sum / background_[letter]));
        }
    }

    /// The best correlation of two motifs over places and strands.
    double likeness(std::span<const float> one, std::span<const float> other) const {
        double norms = 0, best = -1;
        {
            double a = 0, b = 0;
            for (std::size_t i = 0; i < one.size(); ++i) {
                a += static_cast<double>(one[i]) * one[i];
                b += static_cast<double>(other[i]) * other[i];
            }
            norms = std::sqrt(a * b);
        }
        std::vector<float> turned(other.rbegin(), other.rend());
        for (const std::span<const float> second : {other, std::span<const float>(turned)}) {
            for (std::int64_t moved = -farthest; moved <= farthest; ++moved) {
                double product = 0;
                for (std::int64_t i = std::max<std::int64_t>(0, moved * letters);
                     i < std::ssize(one) + std::min<std::int64_t>(0, moved * letters); ++i)
                    product += static_cast<double>(one[index(i)]) * second[index(i - moved * letters)];
                best = std::max(best, product / norms);
            }
        }
        return best;
    }

    const LabelledSequence& bins_;
    MotifSearch search_;
    int threads_;
    Letters background_{};
};

}  // namespace

std::vector<Motif> find_motifs(const LabelledSequence& bins, const MotifSearch& search, int threads) {
    if (search.width < least_motif_width || search.width > bins.length) {
        throw ConfigError("motifs must be between " + std::to_string(least_motif_width) + " and " +
                          std::to_string(bins.length) + " bases wide, not " + std::to_string(search.width) +
                          "; --motifs 0 begins all filters at random");
    }
    return bins.bins() == 0 ? std::vector<Motif>() : Search(bins, search, threads).run();
}

void plant_motifs(const at::Tensor& weight, std::span<const Motif> motifs, double norm) {
    const at::NoGradGuard no_gradients;
    const std::int64_t width = weight.size(2);
    for (std::int64_t i = 0; i < std::min(weight.size(0), std::ssize(motifs)); ++i) {
        const std::vector<float>& odds = motifs[index(i)].odds;
        at::Tensor filter = at::tensor(odds).view({-1, letters}).t();  // (4, motif's width)
        const std::int64_t wide = filter.size(1), kept = std::min(wide, width);
        filter = filter.narrow(1, (wide - kept) / 2, kept);
        filter = filter - filter.mean(0, true);
        at::Tensor row = weight.select(0, i);
        row.mul_(0.25);
        row.narrow(1, (width - kept) / 2, kept).add_(filter * (norm / filter.norm()));
    }
}

}  // namespace bigbird::bins
