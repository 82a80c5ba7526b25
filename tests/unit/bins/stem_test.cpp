// SPDX-License-Identifier: Apache-2.0
#include "bigbird/bins/stem.hpp"

#include "support/tensors.hpp"
#include "support/testing.hpp"
#include "unit/bins/small_bins.hpp"

#include "bigbird/bins/layers.hpp"
#include "bigbird/bins/network.hpp"

#include <ATen/ATen.h>

using namespace bigbird::bins;
using bigbird::testing::difference;

DOCTEST_TEST_CASE("stem: bases become channels, N none") {
    const at::Tensor x = base_channels(codes_of("ACGTN").unsqueeze(0));  // (1, 5, 4)
    DOCTEST_CHECK(at::equal(x[0].narrow(0, 0, 4), at::eye(4)));
    DOCTEST_CHECK(x[0][4].count_nonzero().item<int>() == 0);
}

namespace {

at::Tensor some_bases(const BinsConfig& config) {
    return at::arange(2 * config.window_bases(), at::kLong).mul(7).remainder(5).to(at::kByte).view({2, -1});
}

at::Tensor reverse_complement(const at::Tensor& bases) {
    return at::where(bases.lt(4), 3 - bases.to(at::kLong), 4).to(at::kByte).flip(1);
}

}  // namespace

DOCTEST_TEST_CASE("stem: the other strand's first stage is the window's back to front, to the last bit") {
    const at::NoGradGuard no_gradients;
    for (const std::int64_t width : {7, 15, 21}) {
        BinsConfig config = bigbird::testing::small_bins();
        config.stages.front().width = width;
        config.motif_filters = 5;
        config.both_strands = true;
        BinsNetwork network = bigbird::testing::bins_network(config);
        const Stem stem = network->stem();
        const at::Tensor bases = some_bases(config).narrow(0, 0, 1), other = reverse_complement(bases);
        const StemOutput window = stem->first(bases, config.bin), turned = stem->first(other, config.bin),
                         computed = stem->first(other, config.bin);
        DOCTEST_CHECK(at::equal(turned.positions, window.positions.flip(1)));
        DOCTEST_CHECK(at::equal(turned.sites, window.sites.flip(1)));
        DOCTEST_CHECK(at::equal(computed.positions, turned.positions));
        DOCTEST_CHECK(at::equal(computed.sites, turned.sites));
    }
}

DOCTEST_TEST_CASE("stem: what it keeps of weights follows them, and the mode") {
    const at::NoGradGuard no_gradients;
    const BinsConfig config = preset("tiny");
    BinsNetwork network = bigbird::testing::bins_network(config);
    const at::Tensor bases = some_bases(config).narrow(0, 0, 1), other = reverse_complement(bases);
    const auto check = [&] {
        BinsNetwork fresh = bigbird::testing::bins_network(config);
        auto from = network->named_parameters();
        for (auto& item : fresh->named_parameters())
            item.value().copy_(from[item.key()]);
        DOCTEST_CHECK(
            at::equal(network->stem()->forward(other).positions, fresh->stem()->forward(other).positions));
    };
    network->stem()->forward(bases);
    for (at::Tensor& weight : network->stem()->parameters())
        weight.mul_(1.1);
    check();
    network->stem()->forward(bases);
    network->train();
    for (at::Tensor& weight : network->stem()->parameters())  // as an optimizer's kernel does
        weight.mutable_data_ptr<float>()[1] += 0.1F;
    network->eval();
    check();
}

DOCTEST_TEST_CASE("stem: with both strands the first stage finds on one what it finds on the other") {
    BinsConfig config = bigbird::testing::small_bins();
    config.stages = {{16, 7, 10}};
    config.motif_filters = 5;
    for (const bool both : {true, false}) {
        config.both_strands = both;
        BinsNetwork network(config, 1);
        initialise(*network, 3);
        const at::NoGradGuard no_gradients;
        const Stem stem = network->stem();
        auto weights = network->named_parameters();
        const at::Tensor bases = some_bases(config), y = stem->forward(bases).positions;
        const double apart = difference(stem->forward(reverse_complement(bases)).positions.flip(1), y);
        DOCTEST_CHECK((apart < 1e-6) == both);
        const at::Tensor sites = stem->forward(bases).sites;  // (2, 8 bins, 5)
        const double turned = difference(stem->forward(reverse_complement(bases)).sites.flip(1), sites);
        DOCTEST_CHECK((turned < 1e-6) == both);
        if (!both) continue;
        const auto found = [&](const at::Tensor& read) {
            return at::conv1d(base_channels(read).transpose(1, 2), weights["stem.0.convolution.weight"],
                              weights["stem.0.convolution.bias"], 1, 3)
                .transpose(1, 2);
        };
        const at::Tensor places =
            at::stack({found(bases), found(reverse_complement(bases)).flip(1)}, 2).reshape({2, -1, 16});
        DOCTEST_CHECK(difference(sites, places.view({2, 8, 40, 16}).amax(2).narrow(2, 0, 5)) < 1e-6);
        DOCTEST_CHECK(difference(y, softmax_pool_reference(at::gelu(places, "tanh"),
                                                           weights["stem.0.pool.sharpness"], 20)) < 2e-6);
    }
}

DOCTEST_TEST_CASE("stem: is its definition, stage by stage") {
    const BinsConfig config = bigbird::testing::small_bins();
    BinsNetwork network(config, 1);
    initialise(*network, 3);
    const at::NoGradGuard no_gradients;
    auto weights = network->named_parameters();
    const auto of = [&](const std::string& name) { return weights["stem." + name].to(at::kDouble); };
    const at::Tensor bases = some_bases(config);
    const auto conv = [](const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
        return at::conv1d(x.transpose(1, 2), weight, bias, 1, weight.size(2) / 2).transpose(1, 2);
    };
    at::Tensor x =
        conv(base_channels(bases).to(at::kDouble), of("0.convolution.weight"), of("0.convolution.bias"));
    x = softmax_pool_reference(at::gelu(x, "tanh"), of("0.pool.sharpness"), 2);
    x = at::layer_norm(x, {12}, of("1.norm.weight"), of("1.norm.bias"), config.encoder.layer_norm_eps);
    x = conv(at::gelu(x, "tanh"), of("1.convolution.weight"),
             of("1.convolution.bias"));  // 12 to 16: nothing added
    x = softmax_pool_reference(x, of("1.pool.sharpness"), 5);
    const at::Tensor y = network->stem()->forward(bases).positions;
    DOCTEST_CHECK(y.sizes() == at::IntArrayRef{2, 16, 16});
    DOCTEST_CHECK(difference(y, x) < 2e-6);
}
