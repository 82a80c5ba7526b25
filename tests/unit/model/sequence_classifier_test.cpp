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
        DOCTEST_CHECK(model->named_parameters()["bert.pooler.weight"].grad().defined() ==
                      (config.classifier_head == "linear"));
    }
}

DOCTEST_TEST_CASE("sequence_classifier: needs labels") {
    DOCTEST_CHECK(message_of<bigbird::ConfigError>([] { SequenceClassifier model(small_config()); }) ==
                  "model configuration: num_labels must be at least 1 for a classifier");
}
