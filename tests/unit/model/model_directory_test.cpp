// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/model_directory.hpp"

#include "support/temp_dir.hpp"
#include "support/tensors.hpp"
#include "support/testing.hpp"
#include "unit/model/small_model.hpp"

#include "bigbird/core/error.hpp"

using namespace bigbird::model;
using namespace bigbird::testing;

DOCTEST_TEST_CASE("model_directory: what is written is read again, bit for bit") {
    const TempDir folder;
    PreTrainingModel model(small_config());
    initialise(*model, model->config(), 1);
    model->eval();
    write_model(model, nullptr, folder.path());
    PreTrainingModel again = load_pretraining_model(folder.path(), at::kCPU);
    const std::vector<TokenSequence> sequences{random_sequence(40, 1)};
    const EncoderInput input = make_input(sequences, model->config(), at::kCPU);
    DOCTEST_CHECK(
        identical(model->forward(input).prediction_logits, again->forward(input).prediction_logits));
    DOCTEST_CHECK(again->config().pattern == model->config().pattern);
}
