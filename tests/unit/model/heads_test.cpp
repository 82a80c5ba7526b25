// SPDX-License-Identifier: Apache-2.0
// Values are checked against transformers in tests/parity.
#include "bigbird/model/heads.hpp"

#include "support/tensors.hpp"
#include "support/testing.hpp"
#include "unit/model/small_model.hpp"

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

}  // namespace

DOCTEST_TEST_CASE("heads: parameters have Hugging Face's names, and the decoder is the word embeddings") {
    BigBirdConfig config = small_config();
    config.num_labels = 3;
    const PreTrainingHeads heads(config);
    DOCTEST_CHECK(names_of(*heads) ==
                  std::set<std::string>{"predictions.bias", "predictions.transform.dense.weight",
                                        "predictions.transform.dense.bias",
                                        "predictions.transform.LayerNorm.weight",
                                        "predictions.transform.LayerNorm.bias", "seq_relationship.weight",
                                        "seq_relationship.bias"});
    DOCTEST_CHECK(names_of(*ClassificationHead(config)) ==
                  std::set<std::string>{"dense.weight", "dense.bias", "out_proj.weight", "out_proj.bias"});
    config.classifier_head = "linear";
    DOCTEST_CHECK(names_of(*ClassificationHead(config)) ==
                  std::set<std::string>{"out_proj.weight", "out_proj.bias"});
    config.classifier_head = "bins";
    DOCTEST_CHECK(
        names_of(*ClassificationHead(config)) ==
        std::set<std::string>{"LayerNorm.weight", "LayerNorm.bias", "out_proj.weight", "out_proj.bias"});
    config.classifier_head = "tokens";
    DOCTEST_CHECK(names_of(*ClassificationHead(config)) == std::set<std::string>{"weight", "bias"});
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
