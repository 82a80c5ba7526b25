// SPDX-License-Identifier: Apache-2.0
// Values are checked against transformers in tests/parity.
#include "bigbird/model/heads.hpp"

#include "support/tensors.hpp"
#include "support/testing.hpp"
#include "unit/model/small_model.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/model/bigbird.hpp"

#include <map>
#include <set>

using namespace bigbird::model;
using namespace bigbird::testing;

namespace {

std::set<std::string> names_of(const torch::nn::Module& module) {
    std::set<std::string> names;
    for (const auto& item : module.named_parameters())
        names.insert(item.key());
    return names;
}

/// A classifier of five labels.
SequenceClassifier classifier(const char* head) {
    BigBirdConfig config = small_config();
    config.num_labels = 5;
    config.classifier_head = head;
    SequenceClassifier model(config);
    initialise(*model, config, 1);
    model->eval();
    return model;
}

EncoderInput two_sequences() {
    const std::vector<TokenSequence> sequences{random_sequence(40, 1), random_sequence(38, 2)};
    return make_input(sequences, small_config(), at::kCPU);
}

}  // namespace

DOCTEST_TEST_CASE("heads: parameters have Hugging Face's names, and the decoder is the word embeddings") {
    using Names = std::set<std::string>;
    BigBirdConfig config = small_config();
    config.num_labels = 3;
    DOCTEST_CHECK(names_of(*PreTrainingHeads(config)) ==
                  Names{"predictions.bias", "predictions.transform.dense.weight",
                        "predictions.transform.dense.bias", "predictions.transform.LayerNorm.weight",
                        "predictions.transform.LayerNorm.bias", "seq_relationship.weight",
                        "seq_relationship.bias"});
    const std::map<std::string, Names> heads{
        {"classification", {"dense.weight", "dense.bias", "out_proj.weight", "out_proj.bias"}},
        {"linear", {"out_proj.weight", "out_proj.bias"}},
        {"bins", {"LayerNorm.weight", "LayerNorm.bias", "out_proj.weight", "out_proj.bias"}},
        {"tokens", {"weight", "bias"}}};
    for (const auto& [head, names] : heads) {
        config.classifier_head = head;
        DOCTEST_CHECK(names_of(*ClassificationHead(config)) == names);
    }
}

DOCTEST_TEST_CASE("heads: the classification head has its own dropout, in training alone") {
    BigBirdConfig config = small_config();
    config.num_labels = 3;
    config.hidden_dropout_prob = 0;
    config.classifier_dropout = 0.5;
    ClassificationHead head(config);
    initialise(*head, config, 1);
    const at::Tensor features = random_tensor({4, 32}, 1, at::kFloat);
    head->eval();
    const at::Tensor quiet = head->forward(features, {});
    DOCTEST_CHECK(quiet.sizes() == at::IntArrayRef{4, 3});
    head->train();
    DOCTEST_CHECK(difference(quiet, head->forward(features, {1, 2, 3})) > 1e-4);
    DOCTEST_CHECK(identical(head->forward(features, {1, 2, 3}), head->forward(features, {1, 2, 3})));
}

DOCTEST_TEST_CASE("sequence_classifier: one row of logits a sequence, with both heads") {
    const EncoderInput input = two_sequences();
    for (const std::string head : {"classification", "linear"}) {
        SequenceClassifier model = classifier(head.c_str());
        const at::Tensor logits = model->forward(input);
        DOCTEST_CHECK(logits.sizes() == at::IntArrayRef{2, 5});
        DOCTEST_CHECK(identical(logits, model->predict(model->encode(input).hidden)));
        // The linear head reads the pooler, the other one does not.
        logits.sum().backward();
        for (const at::Tensor& parameter : model->trained_parameters())
            DOCTEST_CHECK(parameter.grad().defined());
        DOCTEST_CHECK(model->named_parameters()["bert.pooler.weight"].grad().defined() == (head == "linear"));
    }
}

DOCTEST_TEST_CASE("sequence_classifier: the head of bins gives each bin the logits of its normed features") {
    SequenceClassifier model = classifier("bins");
    const at::Tensor features = random_tensor({2, 3, 32}, 4, at::kFloat);
    const at::Tensor logits = model->predict(features);
    DOCTEST_REQUIRE(logits.sizes() == at::IntArrayRef{2, 3, 5});
    const at::Tensor x = features[1][2], weight = model->named_parameters()["classifier.out_proj.weight"];
    const at::Tensor normed = (x - x.mean()) / (x.var(false) + model->config().layer_norm_eps).sqrt();
    DOCTEST_CHECK(difference(logits[1][2], at::mv(weight, normed)) < 1e-5);
}

DOCTEST_TEST_CASE("sequence_classifier: the head of tokens is one layer on every token") {
    SequenceClassifier model = classifier("tokens");
    const at::Tensor features = random_tensor({2, 3, 32}, 4, at::kFloat);
    const at::Tensor weight = model->named_parameters()["classifier.weight"];
    DOCTEST_CHECK(difference(model->predict(features), at::matmul(features, weight.t())) < 1e-5);
    model->to(at::kDouble);  // the parameters that are trained are those that are used
    DOCTEST_CHECK((model->predict(features.to(at::kDouble)).scalar_type() == at::kDouble));
}

DOCTEST_TEST_CASE("sequence_classifier: needs labels") {
    DOCTEST_CHECK(message_of<bigbird::ConfigError>([] { SequenceClassifier model(small_config()); }) ==
                  "model configuration: num_labels must be at least 1 for a classifier");
}

DOCTEST_TEST_CASE("pretraining_model: logits have their shapes, chosen positions are rows of all positions") {
    PreTrainingModel model(small_config());
    initialise(*model, model->config(), 1);
    model->eval();
    const EncoderInput input = two_sequences();
    const PreTrainingOutput all = model->forward(input);
    DOCTEST_CHECK(all.prediction_logits.sizes() == at::IntArrayRef{2, 40, 50});
    DOCTEST_CHECK(all.seq_relationship_logits.sizes() == at::IntArrayRef{2, 2});
    const at::Tensor positions = at::tensor({3, 41, 77}, at::kLong);
    const PreTrainingOutput chosen = model->forward(input, positions);
    DOCTEST_CHECK(difference(chosen.prediction_logits,
                             all.prediction_logits.flatten(0, 1).index_select(0, positions)) < 1e-5);
    model->to(at::kDouble);
    DOCTEST_CHECK(difference(model->forward(input).prediction_logits, all.prediction_logits) < 1e-4);
}

DOCTEST_TEST_CASE("pretraining_model: the same dropout key gives the same result, another key another") {
    PreTrainingModel model(small_config());
    initialise(*model, model->config(), 1);
    const std::vector<TokenSequence> sequences{random_sequence(40, 1), random_sequence(38, 2)};
    const EncoderInput input = make_input(sequences, model->config(), at::kCPU);
    const at::Tensor first = model->encode(input, false, {1, 2, 3}).hidden;
    DOCTEST_CHECK(identical(first, model->encode(input, false, {1, 2, 3}).hidden));
    DOCTEST_CHECK(!identical(first, model->encode(input, false, {1, 3, 3}).hidden));
    // A sample keeps its masks wherever it stands in a batch.
    const EncoderInput second = make_input(std::span(sequences).subspan(1), model->config(), at::kCPU);
    DOCTEST_CHECK(difference(model->encode(second, false, {1, 2, 4}).hidden[0], first[1]) < 1e-5);
}
