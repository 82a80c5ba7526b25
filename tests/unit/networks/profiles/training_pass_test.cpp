// SPDX-License-Identifier: Apache-2.0
#include "support/testing.hpp"

#include "bigbird/bins/stem.hpp"
#include "bigbird/networks/profiles/profile_network.hpp"

#include <ATen/ATen.h>

#include <tuple>

using namespace bigbird;
using namespace bigbird::networks;

namespace {

ProfileNet random_training_net(std::int64_t columns) {
    ProfileShape shape{.filters = 24, .layers = 3, .stem = 7, .head = 11, .input = 120, .output = 40};
    shape.groups = {columns};
    shape.counts = shape.trunk_positions(3) - 4;
    ProfileNet net(std::vector{std::pair(std::string(), shape)});
    at::manual_seed(5);
    const at::NoGradGuard no_gradients;
    for (at::Tensor& parameter : net->parameters())
        parameter.copy_(at::randn(parameter.sizes()) * 0.2);
    return net;
}

/// Gradients of a loss of both heads.
std::vector<at::Tensor> gradients_of(ProfileNet net, const ProfileHeads& heads) {
    net->zero_grad();
    at::manual_seed(9);
    const at::Tensor weights = at::randn(heads.profile.sizes());
    ((heads.profile * weights).sum() + heads.counts.square().sum()).backward();
    std::vector<at::Tensor> gradients;
    for (const at::Tensor& parameter : net->parameters())
        gradients.push_back(parameter.grad().clone());
    return gradients;
}

double far_apart(const at::Tensor& a, const at::Tensor& b) {
    return ((a - b).norm() / b.norm()).item<double>();
}

}  // namespace

DOCTEST_TEST_CASE("the training pass has the heads and gradients of forward()") {
    for (const std::int64_t columns : {1, 2}) {
        ProfileNet net = random_training_net(columns);
        at::manual_seed(2);
        const at::Tensor codes = at::randint(0, 5, {3, 120}, at::kByte);
        const ProfileHeads slow = net->forward(bins::base_channels(codes));
        const std::vector<at::Tensor> expected = gradients_of(net, slow);
        // In bfloat16 some of the rectified values change their sign, and with it a whole gradient.
        for (const auto& [type, most, of_gradients] :
             {std::tuple(at::kFloat, 1e-5, 1e-5), std::tuple(at::kBFloat16, 0.03, 0.12)}) {
            const ProfileHeads fast = net->training_pass(codes, type);
            DOCTEST_CHECK(far_apart(fast.profile, slow.profile) < most);
            DOCTEST_CHECK(far_apart(fast.counts, slow.counts) < most);
            const std::vector<at::Tensor> found = gradients_of(net, fast);
            for (std::size_t i = 0; i < found.size(); ++i) {
                DOCTEST_CAPTURE(net->named_parameters().pairs()[i].first);
                DOCTEST_CHECK(far_apart(found[i], expected[i]) < of_gradients);
            }
        }
    }
}
