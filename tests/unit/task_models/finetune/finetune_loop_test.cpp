// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/finetune/finetune_loop.hpp"

#include "support/testing.hpp"

using namespace bigbird;
using namespace bigbird::task_models;

namespace {

training::LoopSpec loop_of(const FinetuneSpec& spec, const std::optional<std::string>& metric) {
    return finetune_loop(spec, {.total_steps = 95}, metric);
}

}  // namespace

DOCTEST_TEST_CASE("finetune_loop: ten evaluations a run, one at the end, or every so many steps") {
    FinetuneSpec spec;
    DOCTEST_CHECK(loop_of(spec, "eval_auroc").evaluate_every == 10);
    spec.evaluate_every = 0;
    DOCTEST_CHECK(loop_of(spec, "eval_auroc").evaluate_every == 95);
    spec.evaluate_every = 7;
    DOCTEST_CHECK(loop_of(spec, "eval_auroc").evaluate_every == 7);
    DOCTEST_CHECK(loop_of(spec, std::nullopt).evaluate_every == 0);
    DOCTEST_CHECK_FALSE(loop_of(spec, std::nullopt).selection.has_value());
}

DOCTEST_TEST_CASE("finetune_loop: areas are better higher, losses lower") {
    FinetuneSpec spec;
    spec.patience = 4;
    const auto selection = loop_of(spec, "eval_auroc").selection;
    DOCTEST_REQUIRE(selection.has_value());
    DOCTEST_CHECK(selection->higher_is_better);
    DOCTEST_CHECK(selection->patience == 4);
    DOCTEST_CHECK_FALSE(loop_of(spec, "eval_loss").selection->higher_is_better);
}

DOCTEST_TEST_CASE("finetune_loop: options go in whole, and what changes no result is recorded") {
    FinetuneSpec spec;
    spec.run.keep = 9;
    spec.optimizer.weight_decay = 0.5;
    spec.attention = "blocked";
    const training::LoopSpec loop = loop_of(spec, {});
    DOCTEST_CHECK(loop.run.keep == 9);
    DOCTEST_CHECK(loop.optimizer.weight_decay == 0.5);
    DOCTEST_CHECK(loop.optimizer.epsilon == 1e-8);
    DOCTEST_CHECK(loop.learning_rate.total_steps == 95);
    DOCTEST_CHECK(loop.free_options.dump() ==
                  R"({"--checkpoint-every":1000,"--keep":9,"--keep-every":0,"--attention":"blocked"})");
}

DOCTEST_TEST_CASE("finetune_loop: words of options as runs record them") {
    FinetuneSpec spec;
    DOCTEST_CHECK(positive_weight_json(spec) == 1.0);
    DOCTEST_CHECK(strand_augmentation(spec) == "none");
    spec.positive_weight.reset();
    spec.both_strands = true;
    DOCTEST_CHECK(positive_weight_json(spec) == "balanced");
    DOCTEST_CHECK(strand_augmentation(spec) == "reverse-complement");
}
