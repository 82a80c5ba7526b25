// SPDX-License-Identifier: Apache-2.0
#include "support/tensors.hpp"
#include "support/testing.hpp"
#include "unit/model/small_model.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/model/bigbird.hpp"

using namespace bigbird::model;
using namespace bigbird::testing;

DOCTEST_TEST_CASE("sequence_classifier: one row of logits a sequence, with both heads") {
    BigBirdConfig config = small_config();
    config.num_labels = 5;
    const std::vector<TokenSequence> sequences{random_sequence(40, 1), random_sequence(38, 2)};
    const EncoderInput input = make_input(sequences, config, at::kCPU);
    for (const char* head : {"classification", "linear"}) {
        config.classifier_head = head;
        SequenceClassifier model(config);
        initialise(*model, config, 1);
        model->eval();
        const at::Tensor logits = model->forward(input);
        DOCTEST_CHECK(logits.sizes() == at::IntArrayRef{2, 5});
        DOCTEST_CHECK(identical(logits, model->predict(model->encode(input).hidden)));
        // The linear head reads the pooler, the other one does not.
        logits.sum().backward();
        for (const at::Tensor& parameter : model->trained_parameters())
            DOCTEST_CHECK(parameter.grad().defined());
        DOCTEST_CHECK(model->named_parameters()["bert.pooler.weight"].grad().defined() ==
                      (config.classifier_head == "linear"));
    }
}

DOCTEST_TEST_CASE("sequence_classifier: the head of bins gives each bin the logits of its normed features") {
    BigBirdConfig config = small_config();
    config.num_labels = 5;
    config.classifier_head = "bins";
    SequenceClassifier model(config);
    initialise(*model, config, 1);
    model->eval();
    const at::Tensor features = random_tensor({2, 3, config.hidden_size}, 4, at::kFloat);
    const at::Tensor logits = model->predict(features);
    DOCTEST_REQUIRE(logits.sizes() == at::IntArrayRef{2, 3, 5});
    const at::Tensor x = features[1][2], weight = model->named_parameters()["classifier.out_proj.weight"];
    const at::Tensor normed = (x - x.mean()) / (x.var(false) + config.layer_norm_eps).sqrt();
    DOCTEST_CHECK(difference(logits[1][2], at::mv(weight, normed)) < 1e-5);
}

DOCTEST_TEST_CASE("sequence_classifier: the head of tokens is one layer on every token") {
    BigBirdConfig config = small_config();
    config.num_labels = 5;
    config.classifier_head = "tokens";
    SequenceClassifier model(config);
    initialise(*model, config, 1);
    model->eval();
    const at::Tensor features = random_tensor({2, 3, config.hidden_size}, 4, at::kFloat);
    const at::Tensor weight = model->named_parameters()["classifier.weight"];
    DOCTEST_CHECK(difference(model->predict(features), at::matmul(features, weight.t())) < 1e-5);
    model->to(at::kDouble);  // the parameters that are trained are those that are used
    DOCTEST_CHECK((model->predict(features.to(at::kDouble)).scalar_type() == at::kDouble));
}

DOCTEST_TEST_CASE("sequence_classifier: needs labels") {
    DOCTEST_CHECK(message_of<bigbird::ConfigError>([] { SequenceClassifier model(small_config()); }) ==
                  "model configuration: num_labels must be at least 1 for a classifier");
}
