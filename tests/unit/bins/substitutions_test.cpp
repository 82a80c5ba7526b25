// SPDX-License-Identifier: Apache-2.0
#include "bigbird/bins/substitutions.hpp"

#include "support/tensors.hpp"
#include "support/testing.hpp"
#include "unit/bins/small_bins.hpp"

#include <ATen/ATen.h>

using namespace bigbird;
using namespace bigbird::bins;
using bigbird::testing::bins_network;
using bigbird::testing::difference;

namespace {

/// At the window's ends and at borders of positions and bins, from N and to N.
std::vector<Substitution> some_substitutions(const BinsConfig& config, const at::Tensor& window) {
    std::vector<Substitution> each;
    const std::int64_t bases = config.window_bases(), position = config.position_bases();
    for (const std::int64_t at : {std::int64_t{0}, position - 1, position, 3 * position + position / 2,
                                  config.bin * 4 + 1, bases / 2, bases - position, bases - 1})
        each.push_back({at, static_cast<std::uint8_t>((window[at].item<int>() + 1) % 5)});
    return each;
}

at::Tensor all_bins(const BinsConfig& config, const std::vector<Substitution>& each) {
    return at::arange(config.window_bins).expand({std::ssize(each), -1});
}

/// A bin and its neighbour for each: that of the substitution, or others.
at::Tensor some_bins(const BinsConfig& config, const std::vector<Substitution>& each, bool own) {
    std::vector<std::int64_t> bins;
    for (const Substitution& one : each) {
        bins.push_back(own ? one.at / config.bin : std::ssize(bins) * 7 % config.window_bins);
        bins.push_back((bins.back() + 1) % config.window_bins);
    }
    return at::tensor(bins, at::kLong).view({-1, 2});
}

void check_equals_slow_twin(const BinsConfig& config) {
    const at::NoGradGuard no_gradients;
    BinsNetwork network = bins_network(config);
    const at::Tensor window = codes_of(bigbird::testing::some_dna(config.window_bases()));
    const std::vector<Substitution> each = some_substitutions(config, window);
    const at::Tensor all = all_bins(config, each);
    const SubstitutedWindow substituted(network, window);
    const at::Tensor fast = substituted.features(each, all);
    DOCTEST_CHECK(difference(fast, substituted_features_reference(network, window, each, all)) < 1e-5);
    for (const bool own : {false, true}) {
        const at::Tensor bins = some_bins(config, each, own);
        DOCTEST_CHECK(difference(substituted.features(each, bins),
                                 substituted_features_reference(network, window, each, bins)) < 1e-5);
    }
    DOCTEST_CHECK(at::equal(substituted.features(), network->features(window.unsqueeze(0))));
    // They do not come from the window as it is.
    DOCTEST_CHECK(difference(fast[5], network->features(window.unsqueeze(0))[0]) > 1e-4);
}

}  // namespace

DOCTEST_TEST_CASE(
    "substitutions: features of whole windows, for every preset's stem and at a window's ends") {
    BinsConfig motifs = bigbird::testing::small_bins();
    motifs.motif_filters = 5;
    motifs.both_strands = true;
    for (const BinsConfig& config :
         {bigbird::testing::small_bins(), motifs, preset("tiny"), preset("small"), preset("dilated")})
        check_equals_slow_twin(config);
}

DOCTEST_TEST_CASE("substitutions: every base of a window, whose stem reaches further than a position") {
    BinsConfig config = bigbird::testing::small_bins();
    config.stages = {{12, 17, 2}, {16, 9, 5}};
    const at::NoGradGuard no_gradients;
    BinsNetwork network = bins_network(config);
    const at::Tensor window = codes_of(bigbird::testing::some_dna(config.window_bases()));
    std::vector<Substitution> each;
    for (std::int64_t at = 0; at < config.window_bases(); ++at)
        each.push_back({at, static_cast<std::uint8_t>((window[at].item<int>() + 1) % 4)});
    const at::Tensor bins = all_bins(config, each);
    const at::Tensor fast = SubstitutedWindow(network, window).features(each, bins);
    DOCTEST_CHECK(difference(fast, substituted_features_reference(network, window, each, bins)) < 1e-5);
}

DOCTEST_TEST_CASE("substitutions: a row does not depend on the others, to the last bit") {
    const at::NoGradGuard no_gradients;
    const BinsConfig config = preset("tiny");
    BinsNetwork network = bins_network(config);
    const at::Tensor codes = codes_of(bigbird::testing::some_dna(config.window_bases()));
    SubstitutedWindow window(network, codes);
    const std::vector<Substitution> each = some_substitutions(config, codes);
    const at::Tensor bins = some_bins(config, each, true), all = window.features(each, bins);
    for (std::int64_t i = 0; i < std::ssize(each); ++i) {
        for (const std::int64_t count : {1, 2, 3, 19}) {
            const std::vector<Substitution> same(static_cast<std::size_t>(count),
                                                 each[static_cast<std::size_t>(i)]);
            const at::Tensor of_same = window.features(same, bins[i].expand({count, -1}));
            DOCTEST_CHECK(at::equal(of_same[0], all[i]));
            DOCTEST_CHECK(at::equal(of_same[count - 1], all[i]));
        }
    }
}

DOCTEST_TEST_CASE("substitutions: windows that differ in a stretch, from a base on, or not at all") {
    BinsConfig motifs = bigbird::testing::small_bins();
    motifs.motif_filters = 5;
    motifs.both_strands = true;
    const at::NoGradGuard no_gradients;
    for (const BinsConfig& config : {motifs, preset("tiny"), preset("small")}) {
        BinsNetwork network = bins_network(config);
        const at::Tensor window = codes_of(bigbird::testing::some_dna(config.window_bases()));
        const SubstitutedWindow substituted(network, window);
        const std::int64_t bases = config.window_bases();
        const auto check = [&](std::int64_t begin, std::int64_t end) {
            at::Tensor edited = window.clone();
            edited.narrow(0, begin, end - begin).copy_(window.narrow(0, begin, end - begin).flip(0));
            DOCTEST_CHECK(difference(substituted.edited_features(edited),
                                     network->features(edited.unsqueeze(0))) < 1e-5);
        };
        for (const std::int64_t at : {std::int64_t{1}, bases / 3, bases / 2 + 7, bases - 3}) {
            check(at, bases);
            check(0, at);
            check(at, std::min(at + 30, bases));
        }
        DOCTEST_CHECK(at::equal(substituted.edited_features(window), substituted.features()));
    }
}

DOCTEST_TEST_CASE("substitutions: positions that a base changes follow from widths and pools") {
    const auto tiny = stage_reaches(preset("tiny"));  // 21 bases, pooled by 4; 5 by 5; 5 by 10
    DOCTEST_REQUIRE(tiny.size() == 3);
    DOCTEST_CHECK(tiny[0].changed == 6);
    DOCTEST_CHECK(tiny[1].changed == 3);
    DOCTEST_CHECK(tiny[2].changed == 2);
    DOCTEST_CHECK(tiny[2].length == 64);
    DOCTEST_CHECK(changed_by(tiny, 300)[2] == std::pair<std::int64_t, std::int64_t>{1, 1});
    DOCTEST_CHECK(changed_by(tiny, 257)[2] == std::pair<std::int64_t, std::int64_t>{0, 1});
    DOCTEST_CHECK(changed_by(tiny, 258)[2] == std::pair<std::int64_t, std::int64_t>{1, 1});
    DOCTEST_CHECK(stage_reaches(preset("small"))[2].changed == 3);
}
