// SPDX-License-Identifier: Apache-2.0
#include "bigbird/baselines/window/architecture.hpp"

#include "support/tensors.hpp"
#include "support/testing.hpp"

#include "bigbird/baselines/window/base_codes.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/json_file.hpp"

#include <ATen/ATen.h>

#include <cmath>

using namespace bigbird;
using namespace bigbird::testing;

namespace {

Json fixture(const std::string& architecture) {
    for (Json& entry : read_json(test_data("baselines/logits.json")))
        if (entry.at("architecture") == architecture) return std::move(entry);
    DOCTEST_FAIL("the fixture lacks " << architecture);
    return {};
}

std::int64_t inputs_of(const std::string& name, const Json& shapes) {
    const auto shape = shapes.at(name).get<std::vector<std::int64_t>>();
    if (name.find("_l0") != std::string::npos) return shape[0] / 4;
    if (shape.size() == 1) return inputs_of(name.substr(0, name.rfind('.')) + ".weight", shapes);
    std::int64_t product = 1;
    for (std::size_t i = 1; i < shape.size(); ++i)
        product *= shape[i];
    return product;
}

/// The windows of an architecture as (windows, length) codes.
at::Tensor fixture_bases(const std::string& architecture) {
    const Json entry = fixture(architecture);
    std::vector<at::Tensor> rows;
    for (const Json& sequence : entry.at("sequences"))
        rows.push_back(at::tensor(baselines::base_codes(sequence.get<std::string>()), at::kLong));
    return at::stack(rows);
}

/// Checks names and shapes of the parameters, fills them as scripts/checks/make_baseline_fixtures.py does and
/// compares the logits.
void check_against_pytorch(const std::string& architecture, baselines::BaseNetworkImpl& network) {
    const Json expected = fixture(architecture);
    const Json& shapes = expected.at("shapes");
    const at::NoGradGuard no_gradients;
    network.eval();
    double number = 0;
    auto parameters = network.named_parameters();
    DOCTEST_REQUIRE(parameters.size() == shapes.size());
    for (const auto& [name, shape] : shapes.items()) {
        DOCTEST_CAPTURE(name);
        DOCTEST_REQUIRE(parameters.contains(name));
        at::Tensor& parameter = parameters[name];
        DOCTEST_REQUIRE(parameter.sizes().vec() == shape.get<std::vector<std::int64_t>>());
        const at::Tensor noise =
            at::arange(parameter.numel(), at::kDouble).mul(12.9898).add(number).sin().mul(43758.5453);
        const at::Tensor values =
            ((noise - noise.floor()) * 2 - 1) * std::sqrt(6 / static_cast<double>(inputs_of(name, shapes)));
        parameter.copy_(values.reshape(parameter.sizes()));
        ++number;
    }
    const at::Tensor logits = network.forward(fixture_bases(architecture), {});
    std::vector<double> wanted;
    for (const Json& row : expected.at("logits"))
        for (const Json& value : row)
            wanted.push_back(value.get<double>());
    const at::Tensor reference = at::tensor(wanted, at::kDouble).reshape(logits.sizes());
    DOCTEST_CHECK(reference.std(0).min().item<double>() > 0.01);  // windows differ
    DOCTEST_CHECK(difference(logits, reference) < 1e-5);
}

/// Checks, on the architecture's windows, that dropout is of training alone and follows from the sample.
void check_dropout(const std::string& architecture, baselines::BaseNetworkImpl& network) {
    const at::NoGradGuard no_gradients;
    const at::Tensor bases = fixture_bases(architecture);
    const model::DropoutKey key{.seed = 1, .step = 2, .samples = {7, 8, 9}};
    network.eval();
    const at::Tensor still = network.forward(bases, key);
    network.train();
    const at::Tensor dropped = network.forward(bases, key);
    DOCTEST_CHECK(difference(still, dropped) > 1e-4);
    const at::Tensor last = network.forward(bases.slice(0, 2), {.seed = 1, .step = 2, .samples = {9}});
    DOCTEST_CHECK(difference(last, dropped.slice(0, 2)) < 1e-5);
}

}  // namespace

DOCTEST_TEST_CASE("baselines/architecture: the shortest windows work, shorter ones are refused") {
    for (const auto& [name, shortest] :
         {std::pair{"cnnprom", 21}, std::pair{"deepromoter", 6}, std::pair{"deepsea", 163}}) {
        DOCTEST_CAPTURE(name);
        const auto network = baselines::make_network(name, shortest, 3, 1);
        const at::Tensor logits = network->forward(at::zeros({2, shortest}, at::kLong), {});
        DOCTEST_CHECK(logits.sizes() == at::IntArrayRef({2, 3}));
        DOCTEST_CHECK(message_of<ConfigError>([&] {
                          baselines::make_network(name, shortest - 1, 3, 1);
                      }).find("needs at least " + std::to_string(shortest)) != std::string::npos);
    }
}

DOCTEST_TEST_CASE("baselines/architecture: PyTorch's logits from the same weights") {
    check_against_pytorch("cnnprom", *baselines::make_network("cnnprom", 251, 1, 1));
    check_against_pytorch("deepromoter", *baselines::make_network("deepromoter", 300, 1, 1));
    check_against_pytorch("deepsea", *baselines::make_network("deepsea", 1000, 4, 1));
}

DOCTEST_TEST_CASE("baselines/architecture: dropout is of training alone and follows from the sample") {
    check_dropout("deepromoter", *baselines::make_network("deepromoter", 300, 1, 1));
    check_dropout("deepsea", *baselines::make_network("deepsea", 1000, 4, 1));
}

DOCTEST_TEST_CASE("baselines/uniform_initialisation: fills the range of each layer, by seed and name") {
    const auto first = baselines::make_network("deepromoter", 300, 2, 1),
               again = baselines::make_network("deepromoter", 300, 2, 1),
               other = baselines::make_network("deepromoter", 300, 2, 2);
    const auto check = [&](const std::string& name, double inputs) {
        DOCTEST_CAPTURE(name);
        const at::Tensor values = first->named_parameters()[name].detach();
        const double bound = 1 / std::sqrt(inputs);
        DOCTEST_CHECK(values.abs().max().item<double>() <= bound);
        DOCTEST_CHECK(values.abs().max().item<double>() > 0.9 * bound);
        DOCTEST_CHECK(std::abs(values.mean().item<double>()) < 0.3 * bound);
        DOCTEST_CHECK(identical(values, again->named_parameters()[name].detach()));
        DOCTEST_CHECK_FALSE(identical(values, other->named_parameters()[name].detach()));
    };
    check("convolution27.weight", 4 * 27);
    check("convolution27.bias", 4 * 27);
    check("lstm.weight_hh_l0", 32);
    check("lstm.bias_ih_l0_reverse", 32);
    check("dense.weight", 3200);
    check("dense.bias", 3200);
}

DOCTEST_TEST_CASE("baselines/base_codes: letters, and a row a base") {
    const auto codes = baselines::base_codes("ACGTN");
    DOCTEST_CHECK(codes == std::vector<std::int32_t>{0, 1, 2, 3, 4});
    const at::Tensor hot = baselines::one_hot_bases(at::tensor(codes, at::kLong).unsqueeze(0));
    DOCTEST_REQUIRE(hot.sizes() == at::IntArrayRef({1, 4, 5}));
    DOCTEST_CHECK(at::equal(hot[0].slice(1, 0, 4), at::eye(4)));
    DOCTEST_CHECK(hot[0].select(1, 4).abs().sum().item<float>() == 0);
}
