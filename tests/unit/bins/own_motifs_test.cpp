// SPDX-License-Identifier: Apache-2.0
#include "support/tensors.hpp"
#include "support/testing.hpp"

#include "bigbird/bins/motifs.hpp"
#include "bigbird/core/rng.hpp"

#include <ATen/ATen.h>

using namespace bigbird;
using namespace bigbird::bins;

namespace {

constexpr std::array<int, 9> site{2, 0, 3, 3, 0, 2, 1, 1, 3};  // GATTAGCCT

/// 600 random bins of 50 bases. Label 0 means the site, on either strand; label 1 nothing; label 2 the site,
/// but in too few bins.
motifs::LabelledSequence bins_with_site() {
    motifs::LabelledSequence bins{.length = 50, .background = 600, .with = {{}, {}, {}}};
    Rng rng = Rng(8).split("bins");
    for (std::int32_t bin = 0; bin < 600; ++bin) {
        std::vector<std::uint8_t> codes;
        for (std::int64_t i = 0; i < bins.length; ++i)
            codes.push_back(static_cast<std::uint8_t>(rng.between(0, 3)));
        const bool with = bin % 10 == 3;
        for (std::size_t i = 0; with && i < site.size(); ++i) {
            const bool reverse = bin % 20 == 3;
            codes[20 + i] = static_cast<std::uint8_t>(reverse ? 3 - site[site.size() - 1 - i] : site[i]);
        }
        bins.codes.insert(bins.codes.end(), codes.begin(), codes.end());
        if (with) bins.with[0].push_back(bin);
        if (rng.between(0, 9) == 0) bins.with[1].push_back(bin);
        if (with && bin < 100) bins.with[2].push_back(bin);
    }
    return bins;
}

/// Eight random filters, of which the third reads the site.
at::Tensor some_filters() {
    at::Tensor filters = at::zeros({8, 4, 9});
    Rng rng = Rng(9).split("filters");
    for (float& value : std::span(filters.mutable_data_ptr<float>(), 8 * 4 * 9))
        value = static_cast<float>(rng.uniform() - 0.5);
    for (std::size_t i = 0; i < site.size(); ++i) {
        filters[2].select(1, static_cast<std::int64_t>(i)).fill_(-1);
        filters[2][site[i]][static_cast<std::int64_t>(i)] = 1;
    }
    return filters;
}

/// The filter's best value in a bin, on either strand, base by base; 0 stands beyond the bin's ends.
double best_site(const at::Tensor& filter, std::span<const std::uint8_t> codes) {
    double best = -1e9;
    for (std::int64_t centre = 0; centre < std::ssize(codes); ++centre) {
        for (const bool reverse : {false, true}) {
            double sum = 0;
            for (std::int64_t i = 0; i < 9; ++i) {
                const std::int64_t at = centre + i - 4;
                if (at < 0 || at >= std::ssize(codes) || codes[static_cast<std::size_t>(at)] > 3) continue;
                const std::int64_t letter = codes[static_cast<std::size_t>(at)];
                sum += reverse ? filter[3 - letter][8 - i].item<double>() : filter[letter][i].item<double>();
            }
            best = std::max(best, sum);
        }
    }
    return best;
}

}  // namespace

DOCTEST_TEST_CASE(
    "own motifs: the filter that tells a label is its own, labels of nothing or few bins have none") {
    const OwnMotifs own = choose_own_motifs(some_filters(), bins_with_site());
    DOCTEST_CHECK(own.weight.sizes() == at::IntArrayRef{3, 8});
    DOCTEST_CHECK(own.weight.count_nonzero().item<int>() == 1);
    DOCTEST_CHECK(own.weight[0][2].item<double>() > 0);
}

DOCTEST_TEST_CASE("own motifs: mean and weight are of the best sites, base by base, N is no letter") {
    motifs::LabelledSequence bins = bins_with_site();
    std::fill_n(bins.codes.begin() + 50, 30, std::uint8_t{4});
    const at::Tensor filters = some_filters();
    const OwnMotifs own = choose_own_motifs(filters, bins);
    std::vector<double> sites;
    for (std::int64_t bin = 0; bin < bins.bins(); ++bin)
        sites.push_back(
            best_site(filters[2], std::span(bins.codes).subspan(static_cast<std::size_t>(bin) * 50, 50)));
    const at::Tensor all = at::tensor(sites);
    DOCTEST_CHECK(own.mean[2].item<double>() == doctest::Approx(all.mean().item<double>()));
    DOCTEST_CHECK(own.weight[0][2].item<double>() == doctest::Approx(1 / all.std().item<double>()));
}

DOCTEST_TEST_CASE("own motifs: of a sample in which a label has more than its share, as of all") {
    const motifs::LabelledSequence all = bins_with_site();
    motifs::LabelledSequence some = all;
    some.background = 300;
    some.codes.resize(300 * 50);
    for (std::size_t label = 0; label < 3; ++label) {
        for (std::int32_t& bin : some.with[label]) {
            if (bin < 300) continue;
            const auto codes = all.codes_of(bin);
            bin = static_cast<std::int32_t>(some.bins());
            some.codes.insert(some.codes.end(), codes.begin(), codes.end());
        }
    }
    motifs::LabelledSequence background = some;
    background.codes.resize(300 * 50);
    for (std::vector<std::int32_t>& with : background.with)
        std::erase_if(with, [](std::int32_t bin) { return bin >= 300; });
    const OwnMotifs own = choose_own_motifs(some_filters(), some),
                    of_background = choose_own_motifs(some_filters(), background);
    DOCTEST_CHECK(own.weight.count_nonzero().item<int>() == 1);
    DOCTEST_CHECK(at::equal(own.weight, of_background.weight));
    DOCTEST_CHECK(at::equal(own.mean, of_background.mean));
}

DOCTEST_TEST_CASE("own motifs: where several filters tell a label alike, none is its own") {
    const at::Tensor filters = some_filters()[2].expand({8, 4, 9}).contiguous();
    DOCTEST_CHECK(choose_own_motifs(filters, bins_with_site()).weight.count_nonzero().item<int>() == 0);
}
