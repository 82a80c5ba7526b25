// SPDX-License-Identifier: Apache-2.0
#include "support/tensors.hpp"
#include "support/testing.hpp"
#include "unit/model/small_model.hpp"

#include "bigbird/model/bigbird.hpp"
#include "bigbird/model/weights.hpp"

#include <ATen/Parallel.h>

#include <cmath>

using namespace bigbird::model;
using namespace bigbird::testing;

DOCTEST_TEST_CASE(
    "initialise: weights are N(0, initializer_range), LayerNorms neutral, biases and [PAD] zero") {
    BigBirdConfig config = preset("tiny");
    config.vocab_size = 512;
    PreTrainingModel model(config);
    initialise(*model, config, 5);
    for (const auto& [key, tensor] : parameters_of(*model)) {
        DOCTEST_CAPTURE(key);
        if (tensor.dim() == 1) {
            DOCTEST_CHECK(
                identical(tensor, at::full_like(tensor, key.ends_with("LayerNorm.weight") ? 1.0 : 0.0)));
        } else if (tensor.numel() > 10'000) {
            const auto count = static_cast<double>(tensor.numel());
            DOCTEST_CHECK(std::abs(tensor.mean().item<double>()) < 5 * 0.02 / std::sqrt(count));
            DOCTEST_CHECK(std::abs(tensor.std().item<double>() / 0.02 - 1) < 0.02);
        }
    }
    DOCTEST_CHECK(
        parameters_of(*model).at("bert.embeddings.word_embeddings.weight")[0].abs().sum().item<double>() ==
        0);
}

DOCTEST_TEST_CASE("initialise: the seed and the parameter's name alone decide") {
    const BigBirdConfig config = small_config();
    PreTrainingModel a(config), b(config), c(config);
    initialise(*a, config, 5);
    const int threads = at::get_num_threads();
    at::set_num_threads(1);
    initialise(*b, config, 5);
    at::set_num_threads(threads);
    initialise(*c, config, 6);
    const TensorMap first = parameters_of(*a), second = parameters_of(*b), third = parameters_of(*c);
    for (const auto& [key, tensor] : first)
        DOCTEST_CHECK(identical(tensor, second.at(key)));
    const std::string query = "bert.encoder.layer.0.attention.self.query.weight",
                      value = "bert.encoder.layer.0.attention.self.value.weight";
    DOCTEST_CHECK(!identical(first.at(query), third.at(query)));
    DOCTEST_CHECK(!identical(first.at(query), first.at(value)));
}

DOCTEST_TEST_CASE("initialise: a prefix leaves the rest alone") {
    const BigBirdConfig config = small_config();
    PreTrainingModel model(config);
    initialise(*model, config, 5, "cls.seq_relationship");
    DOCTEST_CHECK(parameters_of(*model).at("cls.seq_relationship.weight").abs().sum().item<double>() > 0);
    DOCTEST_CHECK(parameters_of(*model).at("bert.pooler.weight").abs().sum().item<double>() == 0);
}

DOCTEST_TEST_CASE("initialise: by fan-in matrices follow their inputs, embeddings do not") {
    BigBirdConfig config = preset("tiny-modern");
    config.vocab_size = 512;
    PreTrainingModel model(config);
    initialise(*model, config, 5);
    const auto parameters = parameters_of(*model);
    const auto deviation = [&](const std::string& key) { return parameters.at(key).std().item<double>(); };
    DOCTEST_CHECK(deviation("bert.encoder.layer.0.attention.self.query.weight") ==
                  doctest::Approx(1 / std::sqrt(128.0)).epsilon(0.03));
    DOCTEST_CHECK(deviation("bert.encoder.layer.0.output.dense.weight") ==
                  doctest::Approx(1 / std::sqrt(512.0)).epsilon(0.03));
    DOCTEST_CHECK(deviation("bert.embeddings.word_embeddings.weight") == doctest::Approx(0.02).epsilon(0.03));
    const at::Tensor taps = parameters.at("bert.embeddings.convolution.weight");
    DOCTEST_CHECK(identical(taps.select(2, 1), at::ones({128, 1})));
    DOCTEST_CHECK(taps.select(2, 0).std().item<double>() == doctest::Approx(0.3).epsilon(0.2));
}

DOCTEST_TEST_CASE("initialise: a Longformer's position of padding is zero, its global projections are not") {
    BigBirdConfig config = small_config();
    config.pad_token_id = 3;
    config.longformer = LongformerForm{.windows = {8, 8}, .dilations = {{1, 1}, {1, 1}}, .global_tokens = 1};
    PreTrainingModel model(config);
    initialise(*model, config, 5);
    const TensorMap parameters = parameters_of(*model);
    const auto sum = [](const at::Tensor& x) { return x.abs().sum().item<double>(); };
    DOCTEST_CHECK(sum(parameters.at("bert.embeddings.position_embeddings.weight")[3]) == 0);
    DOCTEST_CHECK(sum(parameters.at("bert.embeddings.position_embeddings.weight")[2]) > 0);
    const at::Tensor global = parameters.at("bert.encoder.layer.1.attention.self.query_global.weight");
    DOCTEST_CHECK(sum(global) > 0);
    DOCTEST_CHECK(!identical(global, parameters.at("bert.encoder.layer.1.attention.self.query.weight")));
}
