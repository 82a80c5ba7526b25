// SPDX-License-Identifier: Apache-2.0
#include "bigbird/bins/network.hpp"

#include "support/tensors.hpp"
#include "support/testing.hpp"
#include "unit/bins/small_bins.hpp"

#include <ATen/ATen.h>

using namespace bigbird;
using namespace bigbird::bins;
using bigbird::testing::bins_network;
using bigbird::testing::difference;
using bigbird::testing::small_bins;
using bigbird::testing::some_dna;

DOCTEST_TEST_CASE("bins network: logits for each bin, whatever else is in the batch") {
    BinsNetwork network = bins_network(small_bins());
    const at::NoGradGuard no_gradients;
    const std::string dna = some_dna(320);
    const at::Tensor a = codes_of(dna.substr(0, 160)), b = codes_of(dna.substr(160));
    const at::Tensor both = network->forward(at::stack({a, b}));
    DOCTEST_CHECK(both.sizes() == at::IntArrayRef{2, 8, 3});
    DOCTEST_CHECK(difference(both[0], network->forward(a.unsqueeze(0))[0]) < 1e-6);
    DOCTEST_CHECK(difference(both[0], both[1]) > 1e-4);
}

DOCTEST_TEST_CASE("bins network: a base moves the bins about it, and by attention those far from it") {
    BinsNetwork network = bins_network(small_bins());
    const at::NoGradGuard no_gradients;
    std::string dna = some_dna(160);
    const at::Tensor before = network->forward(codes_of(dna).unsqueeze(0))[0];
    dna[70] = dna[70] == 'A' ? 'C' : 'A';  // in bin 3
    const at::Tensor moved = (network->forward(codes_of(dna).unsqueeze(0))[0] - before).abs().sum(1);
    DOCTEST_CHECK(moved.argmax().item<int>() == 3);
    DOCTEST_CHECK(moved[0].item<float>() > 0);
}

DOCTEST_TEST_CASE("bins network: dropout follows from the key, training and evaluation differ") {
    BinsConfig config = small_bins();
    config.encoder.hidden_dropout_prob = config.head_dropout = 0.4;
    BinsNetwork network = bins_network(config);
    network->train();
    const at::Tensor bases = codes_of(some_dna(320)).view({2, 160});
    const auto run = [&](std::int64_t step) {
        return network->forward(bases, {.seed = 1, .step = step, .samples = {4, 9}}).detach();
    };
    DOCTEST_CHECK(at::equal(run(1), run(1)));
    DOCTEST_CHECK(difference(run(1), run(2)) > 1e-4);
    const at::Tensor alone =
        network->forward(bases.narrow(0, 1, 1), {.seed = 1, .step = 1, .samples = {9}}).detach();
    DOCTEST_CHECK(difference(run(1)[1], alone[0]) < 1e-6);
    network->eval();
    DOCTEST_CHECK(difference(run(1), network->forward(bases).detach()) == 0);
}

DOCTEST_TEST_CASE("bins network: a label's own motif is added to its logit, and no other becomes its own") {
    BinsConfig config = small_bins();
    const at::Tensor bases = codes_of(some_dna(160)).unsqueeze(0);
    BinsNetwork plain = bins_network(config);
    config.motif_filters = 4;
    BinsNetwork network = bins_network(config);
    DOCTEST_CHECK(at::equal(network->forward(bases), plain->forward(bases)));  // none yet
    const OwnMotifs own = network->own_motifs();
    {
        const at::NoGradGuard no_gradients;
        own.weight[1][2] = 3;
        own.mean[2] = 0.5;
    }
    const at::Tensor features = network->features(bases);
    DOCTEST_CHECK(features.size(2) == 16 + 4);
    const at::Tensor logits = network->predict(features), before = plain->forward(bases);
    const at::Tensor more = 3 * (features.select(2, 18) - 0.5);
    DOCTEST_CHECK(difference(logits.select(2, 1), before.select(2, 1) + more) < 1e-5);
    DOCTEST_CHECK(at::equal(logits.select(2, 0), before.select(2, 0)));
    logits.sum().backward();
    DOCTEST_CHECK(own.weight.grad().count_nonzero().item<int>() == 1);
    DOCTEST_CHECK(own.mean.grad()[2].item<double>() == doctest::Approx(-3 * 8));
}

DOCTEST_TEST_CASE("bins network: a profile head beside its sums, base by base, and as means over bins") {
    BinsConfig config = small_bins();
    config.bin = 1;
    config.window_bins = 160;
    config.margin_bins = 40;
    BinsNetwork network = bins_network(config);
    const at::NoGradGuard no_gradients;
    const std::string dna = some_dna(160);
    const at::Tensor bases = codes_of(dna).unsqueeze(0);
    const at::Tensor encoded = network->encode(network->stem()->forward(bases))[0];  // (16 positions, hidden)
    DOCTEST_REQUIRE(encoded.size(0) == 16);
    auto weights = network->named_parameters();
    const at::Tensor filters = weights["head.profile.weight"];
    const at::Tensor context =
        at::linear(encoded, weights["head.profile.context.weight"], weights["head.profile.context.bias"]);
    at::Tensor expected = at::zeros({160, profile_channels});
    for (std::int64_t base = 0; base < 160; ++base) {
        at::Tensor sum = context[base / 10] + weights["head.profile.bias"];
        for (std::int64_t tap = 0; tap < profile_width; ++tap) {
            const std::int64_t at = base + tap - profile_width / 2;
            if (at < 0 || at >= 160 || dna[static_cast<std::size_t>(at)] == 'N') continue;
            sum = sum + filters.select(2, tap).select(1, code_of(dna[static_cast<std::size_t>(at)]));
        }
        expected[base] = context[base / 10] + at::gelu(sum, "tanh");
    }
    DOCTEST_CHECK(difference(network->features(bases)[0], expected) < 1e-5);
    config.bin = 5;
    config.window_bins = 32;
    config.margin_bins = 8;
    const at::Tensor means =
        bins_network(config)->features(bases)[0];  // the seed and names give equal weights
    DOCTEST_CHECK(difference(means, expected.view({32, 5, profile_channels}).mean(1)) < 1e-5);
}

DOCTEST_TEST_CASE("bins network: names of weights, and what initialise draws") {
    BinsNetwork one = bins_network(small_bins()), two = bins_network(small_bins());
    auto parameters = one->named_parameters();
    for (const char* name : {"stem.0.convolution.weight", "stem.1.norm.bias", "stem.0.pool.sharpness",
                             "encoder.0.attention_norm.weight", "encoder.0.query.bias",
                             "encoder.0.feed_forward_out.weight", "head.norm.weight", "head.output.weight"})
        DOCTEST_CHECK_MESSAGE(parameters.contains(name), name);
    DOCTEST_CHECK(at::equal(parameters["stem.0.pool.sharpness"], at::full({12}, 2.0)));
    DOCTEST_CHECK(parameters["head.norm.weight"].eq(1).all().item<bool>());
    DOCTEST_CHECK(parameters["encoder.0.query.weight"].abs().max().item<double>() <= 0.25);
    DOCTEST_CHECK(parameters["encoder.0.query.weight"].abs().max().item<double>() > 0.24);
    for (const auto& item : two->named_parameters())
        DOCTEST_CHECK(at::equal(item.value(), parameters[item.key()]));
}

DOCTEST_TEST_CASE("bins network: half of the heads begin with attention to near positions") {
    const BinsNetwork network = bins_network(small_bins());  // two heads of 8
    auto parameters = network->named_parameters();
    const at::Tensor bias = parameters["encoder.0.query.bias"];
    DOCTEST_CHECK(at::equal(bias, parameters["encoder.0.key.bias"]));
    DOCTEST_CHECK(bias.slice(0, 8).count_nonzero().item<int>() == 0);
    const model::RotaryTable table = model::rotary_table(4, 8, at::kCPU);
    const at::Tensor turned = model::rotate(bias.slice(0, 0, 8).expand({1, 1, 4, 8}), table)[0][0];  // (4, 8)
    const at::Tensor scores = at::matmul(turned, turned.t())[0] / std::sqrt(8.0);
    DOCTEST_CHECK(scores[0].item<double>() == doctest::Approx(4));  // a pair of features each
    for (const int distance : {1, 2, 3})
        DOCTEST_CHECK(scores[distance].item<double>() < scores[distance - 1].item<double>());
    BinsConfig config = small_bins();
    config.positions = model::Positions::none;
    const BinsNetwork plain = bins_network(config);
    DOCTEST_CHECK(plain->named_parameters()["encoder.0.query.bias"].count_nonzero().item<int>() == 0);
}

DOCTEST_TEST_CASE("bins network: presets have the size that the help says") {
    const auto millions = [](const char* name) {
        std::int64_t sum = 0;
        const BinsNetwork network(preset(name), 919);
        for (const at::Tensor& parameter : network->parameters())
            sum += parameter.numel();
        return static_cast<double>(sum) / 1e6;
    };
    DOCTEST_CHECK(millions("tiny") == doctest::Approx(0.69).epsilon(0.05));
    DOCTEST_CHECK(millions("small") == doctest::Approx(4.1).epsilon(0.1));
}
