// SPDX-License-Identifier: Apache-2.0
#include "unit/baselines/window/pytorch_fixture.hpp"

#include "support/tensors.hpp"
#include "support/testing.hpp"

#include "bigbird/baselines/window/architecture.hpp"
#include "bigbird/baselines/window/base_codes.hpp"
#include "bigbird/core/formats/json_file.hpp"

#include <cmath>

namespace bigbird::testing {

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

}  // namespace

at::Tensor fixture_bases(const std::string& architecture) {
    const Json entry = fixture(architecture);
    std::vector<at::Tensor> rows;
    for (const Json& sequence : entry.at("sequences"))
        rows.push_back(at::tensor(baselines::base_codes(sequence.get<std::string>()), at::kLong));
    return at::stack(rows);
}

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

void check_dropout(const std::string& architecture, baselines::BaseNetworkImpl& network) {
    baselines::initialise_uniformly(network, 1);
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

}  // namespace bigbird::testing
