// SPDX-License-Identifier: Apache-2.0
#include "bigbird/bins/motifs.hpp"

#include "bigbird/bins/layers.hpp"
#include "bigbird/bins/motif_search.hpp"
#include "bigbird/bins/stem.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parallel.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <string>

namespace bigbird::bins {

namespace {

constexpr std::size_t sample_step = 8;     // one in 8 bins is used for the threshold of a site,
constexpr std::size_t most_others = 4096;  // at most 4,096 bins
constexpr std::int64_t most_tried = 700;   // maximum number of words that start an alignment
constexpr std::int64_t rounds = 5, fewest_sites = 6;
constexpr double common = 0.03;       // share of the bins without a label that may have its motif
constexpr double most_alike = 0.75;   // largest correlation of two kept motifs
constexpr double least_enriched = 3;  // minimum of Motif::enrichment
constexpr double pseudocount = 1.5;   // pseudocount in sites, with background frequencies
constexpr std::int64_t farthest = 5;  // largest offset between two compared motifs
constexpr float seed_match = 1.3F, seed_mismatch = -1.5F;

using Letters = std::array<double, letter_count>;

class Search {
public:
    Search(const LabelledSequence& bins, const MotifSearch& search, int threads)
        : bins_(bins), search_(search), threads_(threads) {
        Letters counts{1, 1, 1, 1};
        for (const std::uint8_t code : bins.codes_of(0, bins.background))
            if (code < letter_count) ++counts[code];
        const double sum = counts[0] + counts[1] + counts[2] + counts[3];
        for (std::size_t letter = 0; letter < letter_count; ++letter)  // of both strands
            background_[letter] = (counts[letter] + counts[3 - letter]) / (2 * sum);
    }
    std::vector<Motif> run() {
        std::vector<Motif> motifs;
        std::int64_t tried = 0;
        for (const SeedWord& seed : seed_words(bins_, search_, threads_)) {
            if (std::ssize(motifs) >= search_.most || tried == most_tried) break;
            Motif motif = begun_by(seed);
            const auto is_known = [&] {
                return std::ranges::any_of(motifs, [&](const Motif& other) {
                    return likeness(motif.odds, other.odds) > most_alike;
                });
            };
            if (is_known()) continue;
            ++tried;
            if (refine(motif) && !is_known()) motifs.push_back(std::move(motif));
        }
        return motifs;
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

    Motif begun_by(const SeedWord& seed) const {
        Motif motif{.odds = std::vector<float>(index(search_.width * letter_count)),
                    .label = seed.label,
                    .gc = 2 * background_[1]};
        const std::int64_t first = (search_.width - word_length) / 2;
        for (std::int64_t i = 0; i < word_length; ++i) {
            const std::int32_t own = seed.word >> (2 * (word_length - 1 - i)) & 3;
            for (std::int32_t letter = 0; letter < letter_count; ++letter)
                motif.odds[index((first + i) * letter_count + letter)] =
                    letter == own ? seed_match : seed_mismatch;
        }
        return motif;
    }

    /// The best site of each bin.
    template <typename Bins>
    std::vector<Site> sites_in(const Bins& bins, const MotifScanner& scanner) const {
        std::vector<Site> sites(bins.size());
        parallel_for(std::ssize(bins), threads_,
                     [&](std::int64_t i) { sites[index(i)] = scanner.best(bins_.codes_of(bins[index(i)])); });
        return sites;
    }

    /// The score that about one in 33 of these sites reaches.
    static float usual_best(std::vector<Site> sites) {
        const auto nth =
            sites.begin() + static_cast<std::ptrdiff_t>(static_cast<double>(sites.size()) * (1 - common));
        std::ranges::nth_element(sites, nth, {}, &Site::score);
        return nth->score;
    }

    /// False if too few of the label's bins have the motif.
    bool refine(Motif& motif) const {
        const std::vector<std::int32_t>& with = bins_.with[index(motif.label)];
        const std::vector<std::int64_t> others = some_without(motif.label);
        if (others.empty()) return false;
        for (std::int64_t round = 0; round < rounds; ++round) {
            const MotifScanner scanner(motif.odds, search_.width);
            const float least = usual_best(sites_in(others, scanner));
            std::vector<Letters> counts(index(search_.width));
            for (Letters& column : counts)
                for (std::size_t letter = 0; letter < letter_count; ++letter)
                    column[letter] = pseudocount * background_[letter];
            motif.sites = 0;
            const std::vector<Site> sites = sites_in(with, scanner);
            for (std::size_t i = 0; i < with.size(); ++i) {
                if (sites[i].score < least) continue;
                ++motif.sites;
                count_letters(bins_.codes_of(with[i]).subspan(index(sites[i].begin), index(search_.width)),
                              sites[i].reverse, counts);
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
            if (code < letter_count) counts[i][reverse ? 3U - code : code] += 1;
        }
    }

    void set_odds(Motif& motif, const std::vector<Letters>& counts) const {
        for (std::size_t i = 0; i < counts.size(); ++i) {
            const Letters& column = counts[i];
            const double sum = column[0] + column[1] + column[2] + column[3];
            for (std::size_t letter = 0; letter < letter_count; ++letter)
                motif.odds[i * letter_count + letter] =
                    static_cast<float>(std::log2(column[letter] / sum / background_[letter]));
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
            for (std::int64_t moved = -farthest; moved <= farthest; ++moved) {
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
    Letters background_{};
};

}  // namespace

motifs::MotifSet as_shares(std::span<const Motif> motifs, std::span<const std::string> labels) {
    motifs::MotifSet set;
    for (const Motif& motif : motifs) {
        set.background = {(1 - motif.gc) / 2, motif.gc / 2, motif.gc / 2, (1 - motif.gc) / 2};
        motifs::Motif& written = set.motifs.emplace_back();
        written.id = fmt::format("motif_{}", set.motifs.size());
        written.name = labels[index(motif.label)];
        std::ranges::replace(written.name, ' ', '_');
        written.sites = motif.sites;
        for (std::size_t i = 0; i + letter_count <= motif.odds.size(); i += letter_count) {
            motifs::Shares& shares = written.shares.emplace_back();
            for (std::size_t letter = 0; letter < letter_count; ++letter)
                shares[letter] = set.background[letter] * std::exp2(motif.odds[i + letter]);
            const double sum = shares[0] + shares[1] + shares[2] + shares[3];
            for (double& share : shares)
                share /= sum;
        }
    }
    return set;
}

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
        at::Tensor filter = at::tensor(odds).view({-1, letter_count}).t();  // (4, motif's width)
        const std::int64_t wide = filter.size(1), kept = std::min(wide, width);
        filter = filter.narrow(1, (wide - kept) / 2, kept);
        filter = filter - filter.mean(0, true);
        at::Tensor row = weight.select(0, i);
        row.mul_(0.25);
        row.narrow(1, (width - kept) / 2, kept).add_(filter * (norm / filter.norm()));
    }
}

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

/// For each bin the number of background bins with a lower value of a filter; equal values count half.
at::Tensor background_below(const at::Tensor& values, std::int64_t background) {
    const at::Tensor sorted = std::get<0>(values.narrow(0, 0, background).sort());
    const at::Tensor below = at::searchsorted(sorted, values, false, false);
    const at::Tensor up_to = at::searchsorted(sorted, values, false, true);
    return (below + up_to).to(at::kDouble).div_(2);
}

/// One label's bins compared with the background's others.
struct LabelCounts {
    double ones, ones_of_background, zeros;
    LabelCounts(const LabelledSequence& bins, const std::vector<std::int32_t>& with)
        : ones(static_cast<double>(with.size())),
          ones_of_background(
              static_cast<double>(std::ranges::lower_bound(with, bins.background) - with.begin())),
          zeros(static_cast<double>(bins.background) - ones_of_background) {}
    bool has_enough() const { return ones >= fewest_bins && zeros > 0; }
    /// `below`: the sum of background_below() over the label's bins. It counts the label's bins in the
    /// background, half of which are below another one.
    double auroc(double below) const {
        return has_enough() ? (below - ones * ones_of_background / 2) / (ones * zeros) : 0.5;
    }
    /// The standard error of an AUROC of 0.5.
    double error() const { return std::sqrt((ones + zeros + 1) / std::max(12 * ones * zeros, 1.0)); }
};

struct Tells {
    at::Tensor aurocs;  // (labels, filters); 0.5 where a label has too few bins
    at::Tensor errors;  // (labels)
};

Tells tells_of(const at::Tensor& sites, const LabelledSequence& bins) {
    std::vector<LabelCounts> counts;
    for (const std::vector<std::int32_t>& with : bins.with)
        counts.emplace_back(bins, with);
    at::Tensor errors = at::empty({bins.labels()}, at::kDouble);
    for (std::size_t label = 0; label < counts.size(); ++label)
        errors.mutable_data_ptr<double>()[label] = counts[label].error();
    at::Tensor aurocs = at::empty({sites.size(1), bins.labels()}, at::kDouble);
    auto* out = aurocs.mutable_data_ptr<double>();
    for (std::int64_t filter = 0; filter < sites.size(1); ++filter) {
        const at::Tensor below = background_below(sites.select(1, filter).contiguous(), bins.background);
        const double* const of_bin = below.const_data_ptr<double>();
        for (std::size_t label = 0; label < counts.size(); ++label) {
            double sum = 0;
            for (const std::int32_t bin : bins.with[label])
                sum += of_bin[bin];
            *out++ = counts[label].auroc(sum);
        }
    }
    return {aurocs.t().contiguous(), errors};
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
    const at::Tensor usual = sites.narrow(0, 0, bins.background);
    const at::Tensor deviation = usual.std(0).clamp_min(1e-6);
    return {.mean = usual.mean(0), .weight = (first_weight * is_own / deviation).to(at::kFloat)};
}

}  // namespace bigbird::bins
