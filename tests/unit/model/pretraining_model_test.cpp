// SPDX-License-Identifier: Apache-2.0
#include "support/tensors.hpp"
#include "support/testing.hpp"
#include "unit/model/small_model.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/model/bigbird.hpp"

using namespace bigbird::model;
using namespace bigbird::testing;

DOCTEST_TEST_CASE("pretraining_model: logits have their shapes, chosen positions are rows of all positions") {
    PreTrainingModel model(small_config());
    initialise(*model, model->config(), 1);
    model->eval();
    const std::vector<TokenSequence> sequences{random_sequence(40, 1), random_sequence(38, 2)};
    const EncoderInput input = make_input(sequences, model->config(), at::kCPU);
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
