// SPDX-License-Identifier: Apache-2.0
#include "support/temp_dir.hpp"
#include "support/testing.hpp"
#include "unit/profiles/training/planted_genome.hpp"

#include "bigbird/bins/network.hpp"
#include "bigbird/profiles/training/bias.hpp"
#include "bigbird/profiles/training/profile_run.hpp"

#include <ATen/ATen.h>

using namespace bigbird;
using namespace bigbird::testing;
using namespace bigbird::profiles;

DOCTEST_TEST_CASE("a model on top of the enzyme's bias loses the preference that another one learns") {
    const TempDir at;
    const PlantedGenome planted(1);
    const WindowSource source = planted.source();
    ProfileRun run = planted.run(at / "bias", "bias");
    for (auto& peaks : run.regions.peaks)
        peaks.clear();
    run.background_per_epoch = 200;
    train_network(run, source);
    const networks::ProfileNet bias = open_pair(at / "bias/model").main;
    scale_counts(bias, source, planted.regions().of(examples::Split::train, false));

    ProfileRun corrected = planted.run(at / "corrected", "nobias");
    corrected.bias = bias;
    train_network(corrected, source);
    train_network(planted.run(at / "plain", ""), source);

    const std::vector<std::string> dna =
        sequences_of(source, planted.regions().of(examples::Split::test, false), 20);
    const auto most = [&](const networks::ProfileNet& net) {
        const double uniform = 1.0 / static_cast<double>(source.output());
        return marginal_of([&](const at::Tensor& codes) { return net.ptr()->scores(codes); }, dna,
                           PlantedGenome::preferred)
                   .most() /
               uniform;
    };
    const ProfilePair pair = open_pair(at / "corrected/model");
    DOCTEST_REQUIRE(pair.bias);
    const double of_bias = most(bias), of_plain = most(open_pair(at / "plain/model").main),
                 of_corrected = most(pair.main);
    DOCTEST_CAPTURE(of_bias);
    DOCTEST_CAPTURE(of_plain);
    DOCTEST_CAPTURE(of_corrected);
    DOCTEST_CHECK(of_bias > 3);
    DOCTEST_CHECK(of_plain > 3);
    DOCTEST_CHECK(of_corrected - 1 < (of_plain - 1) / 2);
    // The joined model predicts what was observed: counts by the motif, profiles by the preference.
    const ProfileFigures figures =
        figures_of(pair, source, planted.regions().of(examples::Split::test, true));
    DOCTEST_CHECK(figures.distances.weighted() < figures.distances.weighted_uniform());
}

DOCTEST_TEST_CASE("a stopped training of profiles goes on as if it had not been stopped") {
    const TempDir at;
    const PlantedGenome planted(2);
    const WindowSource source = planted.source();
    ProfileRun whole = planted.run(at / "whole", "", 6), part = planted.run(at / "part", "", 6);
    train_network(whole, source);
    part.loop.learning_rate.total_steps = 6;
    part.loop.run.max_hours = 1e-9;
    DOCTEST_CHECK_THROWS(train_network(part, source));
    part.loop.run.max_hours = 0;
    train_network(part, source);
    DOCTEST_CHECK(read_file(at / "whole/model/model.safetensors") ==
                  read_file(at / "part/model/model.safetensors"));
}

DOCTEST_TEST_CASE("a table of k-mers is a network with its logits") {
    for (const int k : {3, 4}) {
        KmerBias table(k);
        const std::string dna = PlantedGenome::random_dna(60, 3);
        std::vector<float> counts(20);
        for (std::size_t i = 0; i < counts.size(); ++i)
            counts[i] = static_cast<float>(i * i % 7);
        table.add(dna, counts);
        const networks::ProfileNet net = kmer_network(table, 60, 20);
        std::vector<float> expected(20);
        KmerBias::logits(table.log_odds(), dna, expected);
        const at::Tensor found = net.ptr()->scores(bins::codes_of(dna).unsqueeze(0)).profile.flatten();
        for (std::int64_t i = 0; i < 20; ++i)
            DOCTEST_CHECK(found[i].item<float>() == doctest::Approx(expected[static_cast<std::size_t>(i)]));
    }
}

DOCTEST_TEST_CASE("a sweep takes the best of the sound models of the bias, or the least unsound one") {
    BiasTrial good{.pearson_background = 0.3, .profile_jsd = 0.4, .factor_effect = 0.02}, better = good,
                                                                                          unsound = good;
    better.profile_jsd = 0.39;
    unsound.profile_jsd = 0.3;
    unsound.factor_effect = 0.5;
    DOCTEST_CHECK(best_trial(std::array{good, better, unsound}) == 1);
    BiasTrial worse = unsound;
    worse.factor_effect = 0.6;
    DOCTEST_CHECK(best_trial(std::array{worse, unsound}) == 1);
    DOCTEST_CHECK(!unsound.is_sound());
}
