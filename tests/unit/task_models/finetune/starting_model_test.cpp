// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/finetune/starting_model.hpp"

#include "support/temp_dir.hpp"
#include "support/tensors.hpp"
#include "support/testing.hpp"
#include "unit/task_models/tiny_task.hpp"

#include "bigbird/model/model_directory.hpp"

using namespace bigbird;
using namespace bigbird::testing;
using namespace bigbird::task_models;

DOCTEST_TEST_CASE("starting model: the pretrained encoder, or its shape with other weights") {
    const TempDir folder;
    write_tiny_pretrained(folder / "m", 1);
    FinetuneSpec spec;
    spec.head = "bins";
    spec.dropout = 0.25;
    const model::BigBirdConfig config = classifier_config(spec, folder / "m", 3);
    DOCTEST_CHECK(config.num_labels == 3);
    DOCTEST_CHECK(config.classifier_head == "bins");
    DOCTEST_CHECK(config.hidden_dropout_prob == 0.25);
    const char* name = "bert.embeddings.word_embeddings.weight";
    const auto weight = [&] {
        return starting_classifier(spec, config, folder / "m", at::kCPU)->named_parameters()[name].detach();
    };
    const auto pretrained = model::classifier_from_pretrained(folder / "m", config, 9, at::kCPU);
    DOCTEST_CHECK(at::equal(weight(), pretrained->named_parameters()[name]));
    DOCTEST_CHECK_FALSE(starting_options(spec, folder / "m").contains("--random-weights"));
    spec.random_weights = true;
    DOCTEST_CHECK_FALSE(at::equal(weight(), pretrained->named_parameters()[name]));
    DOCTEST_CHECK(at::equal(weight(), weight()));
    DOCTEST_CHECK(starting_options(spec, folder / "m")["--random-weights"] == true);
}
