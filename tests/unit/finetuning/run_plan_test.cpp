// SPDX-License-Identifier: Apache-2.0
#include "bigbird/finetuning/run_plan.hpp"

#include "support/temp_dir.hpp"
#include "support/tensors.hpp"
#include "support/testing.hpp"
#include "unit/tasks/tiny_task.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/finetuning/finetune.hpp"
#include "bigbird/model/model_directory.hpp"

#include <fstream>

using namespace bigbird;
using namespace bigbird::testing;
using namespace bigbird::tasks;

namespace {

training::LoopSpec loop_of(const FinetuneSpec& spec, const std::optional<std::string>& metric) {
    return finetune_loop(spec, {.total_steps = 95}, metric);
}

}  // namespace

DOCTEST_TEST_CASE("run_plan: ten evaluations a run, one at the end, or every so many steps") {
    FinetuneSpec spec;
    DOCTEST_CHECK(loop_of(spec, "eval_auroc").evaluate_every == 10);
    spec.evaluate_every = 0;
    DOCTEST_CHECK(loop_of(spec, "eval_auroc").evaluate_every == 95);
    spec.evaluate_every = 7;
    DOCTEST_CHECK(loop_of(spec, "eval_auroc").evaluate_every == 7);
    DOCTEST_CHECK(loop_of(spec, std::nullopt).evaluate_every == 0);
    DOCTEST_CHECK_FALSE(loop_of(spec, std::nullopt).selection.has_value());
}

DOCTEST_TEST_CASE("run_plan: areas are better higher, losses lower") {
    FinetuneSpec spec;
    spec.patience = 4;
    const auto selection = loop_of(spec, "eval_auroc").selection;
    DOCTEST_REQUIRE(selection.has_value());
    DOCTEST_CHECK(selection->higher_is_better);
    DOCTEST_CHECK(selection->patience == 4);
    DOCTEST_CHECK_FALSE(loop_of(spec, "eval_loss").selection->higher_is_better);
}

DOCTEST_TEST_CASE("run_plan: steps are compared by the loss where positives are few, else by AUROC") {
    const auto of = [](std::vector<std::int64_t> ones) { return metric_for(ones, 1000); };
    DOCTEST_CHECK(of({49}) == "eval_loss");
    DOCTEST_CHECK(of({50}) == "eval_auroc");
    DOCTEST_CHECK(of({30, 0, 19, 1}) == "eval_auroc");
    DOCTEST_CHECK(of({960}) == "eval_loss");  // few negatives
    DOCTEST_CHECK(of({0, 1000}) == "eval_loss");
}

DOCTEST_TEST_CASE("run_plan: passes stop early, a number of steps does not") {
    FinetuneSpec spec;
    DOCTEST_CHECK(loop_of(spec, "eval_auroc").selection->patience == 3);
    spec.learning_rate.total_steps = 95;
    DOCTEST_CHECK(loop_of(spec, "eval_auroc").selection->patience == 0);
    spec.patience = 2;
    DOCTEST_CHECK(loop_of(spec, "eval_auroc").selection->patience == 2);
}

DOCTEST_TEST_CASE("run_plan: what is said where the last step is the best") {
    FinetuneSpec spec;
    spec.epochs = 10;
    const training::LoopResult last{.steps = 95, .best_step = 95};
    DOCTEST_CHECK(still_improving(spec, last) ==
                  "still improving: the same command with --steps 190 goes on from here");
    DOCTEST_CHECK_FALSE(still_improving(spec, {.steps = 95, .best_step = 90}).has_value());
    DOCTEST_CHECK_FALSE(still_improving(spec, {.steps = 95}).has_value());
    DOCTEST_CHECK_FALSE(
        still_improving(spec, {.steps = 95, .finished_before = true, .best_step = 95}).has_value());
    spec.learning_rate.total_steps = 95;
    DOCTEST_CHECK(still_improving(spec, last) ==
                  "still improving: the same command with --steps 190 goes on from here");
    spec.evaluate_every = 0;  // one evaluation only: nothing to compare
    DOCTEST_CHECK_FALSE(still_improving(spec, last).has_value());
}

DOCTEST_TEST_CASE("run_plan: options go in whole, and what changes no result is recorded") {
    FinetuneSpec spec;
    spec.run.keep = 9;
    spec.optimizer.weight_decay = 0.5;
    const training::LoopSpec loop = loop_of(spec, {});
    DOCTEST_CHECK(loop.run.keep == 9);
    DOCTEST_CHECK(loop.optimizer.weight_decay == 0.5);
    DOCTEST_CHECK(loop.optimizer.epsilon == 1e-8);
    DOCTEST_CHECK(loop.learning_rate.total_steps == 95);
    DOCTEST_CHECK(loop.free_options.dump() ==
                  R"({"--checkpoint-every":1000,"--keep":9,"--attention":"automatic"})");
}

DOCTEST_TEST_CASE("run_plan: words of options as runs record them") {
    FinetuneSpec spec;
    spec.architecture = "deepsea";
    const auto recorded = [&] { return run_options(spec, {}, {}); };
    DOCTEST_CHECK(recorded()["--positive-weight"] == 1.0);
    DOCTEST_CHECK(recorded()["--strand-augmentation"] == "none");
    DOCTEST_CHECK_FALSE(recorded().contains("--calibration"));
    spec.positive_weight.reset();
    spec.both_strands = true;
    spec.calibrates = false;
    DOCTEST_CHECK(recorded()["--positive-weight"] == "balanced");
    DOCTEST_CHECK(recorded()["--strand-augmentation"] == "reverse-complement");
    DOCTEST_CHECK(recorded()["--calibration"] == "none");
    DOCTEST_CHECK(chosen_options(recorded(), "--seed --nothing --dtype").dump() ==
                  R"({"--seed":0,"--dtype":"auto"})");
}

DOCTEST_TEST_CASE("run_plan: the pretrained encoder, or its shape with other weights") {
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
    DOCTEST_CHECK_FALSE(run_options(spec, {}, folder / "m").contains("--random-weights"));
    spec.random_weights = true;
    DOCTEST_CHECK_FALSE(at::equal(weight(), pretrained->named_parameters()[name]));
    DOCTEST_CHECK(at::equal(weight(), weight()));
    DOCTEST_CHECK(run_options(spec, {}, folder / "m")["--random-weights"] == true);
}

DOCTEST_TEST_CASE("run_plan: the grid of tokens is what fits, or what is asked for") {
    DOCTEST_CHECK(token_grid({}, 200, 53) == bins::Grid{200, 48, 6});
    DOCTEST_CHECK(token_grid({}, 200, 5) == bins::Grid{200, 5, 0});
    BinsSpec spec;
    spec.window = 2000;
    DOCTEST_CHECK(token_grid(spec, 100, 53) == bins::Grid{100, 20, 2});
    DOCTEST_CHECK(message_of<ConfigError>([&] { token_grid(spec, 100, 19); }) ==
                  "--window 2000: the model's positions hold the tokens of 1900 bases");
    DOCTEST_CHECK(message_of<ConfigError>([&] { token_grid(spec, 300, 53); }) ==
                  "--window must be a multiple of the 300 bases of a bin");
}

DOCTEST_TEST_CASE("run_plan: window and margin by options, and dropout everywhere") {
    BinsSpec spec;
    spec.window = 128 * 200;
    bins::BinsConfig config = bins_config(spec, 0.3, 200);
    DOCTEST_CHECK(config.window_positions() == 128);
    DOCTEST_CHECK(config.margin_bins == 16);
    DOCTEST_CHECK(config.head_dropout == 0.3);
    config = bins_config(spec, {}, 400);
    DOCTEST_CHECK(config.window_bins == 64);
    DOCTEST_CHECK(config.window_positions() == 128);
    spec.window = 100 * 200;
    DOCTEST_CHECK_THROWS_AS(bins_config(spec, {}, 200), ConfigError);  // no whole blocks of 64
}

DOCTEST_TEST_CASE("task_card: numbers are grouped by thousands") {
    DOCTEST_CHECK(with_commas(0) == "0");
    DOCTEST_CHECK(with_commas(999) == "999");
    DOCTEST_CHECK(with_commas(1000) == "1,000");
    DOCTEST_CHECK(with_commas(-1234567) == "-1,234,567");
}

DOCTEST_TEST_CASE("task_card: says what was learned from, what it is worth and how it is used") {
    TempDir folder;
    const auto examples = write_motif_examples(folder / "examples", 40, 3);
    CardFacts facts = facts_of(examples);
    facts.architecture = "deepsea";
    facts.options = {{"--steps", 7}};
    std::ofstream(folder / "model.safetensors") << "abc";
    const training::TrainedModel model{
        .folder = folder.path(), .step = 5, .evaluation = {{"eval_loss", 0.25}, {"eval_auroc", 0.75}}};
    const std::string text = model::to_text(task_card(facts, model));
    DOCTEST_CHECK(holds(text, "# deepsea for chromatin, 2 labels\n"));
    DOCTEST_CHECK(holds(text, "bigbird-dna predict-chromatin --model . "));
    DOCTEST_CHECK(
        holds(text, "| rows of train | 20 |\n| rows of validation | 10 |\n| rows of test | 10 |\n"));
    DOCTEST_CHECK(holds(text, "On 10 rows held out to choose the step:"));
    DOCTEST_CHECK(holds(text, "| Mean AUROC | 0.75 |"));
    DOCTEST_CHECK(holds(text, "The weights are those of step 5.\n"));
    facts.chosen_by = kept_by("eval_loss");
    DOCTEST_CHECK(holds(model::to_text(task_card(facts, model)),
                        "The weights are those of step 5. It has the lowest loss on validation.\n"));
    DOCTEST_CHECK(kept_by("eval_auroc") ==
                  "the highest AUROC on validation (of equal ones, the lowest loss)");
    DOCTEST_CHECK(holds(text, "| `--steps` | 7 |"));
    DOCTEST_CHECK(holds(text, "evaluate-chromatin --model-card FOLDER"));
    // SHA-256 of "abc", FIPS 180-2.
    DOCTEST_CHECK(holds(text, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
    DOCTEST_CHECK(holds(text, "they were not calibrated, since no label has 50 positives"));
    facts.options["--calibration"] = "none";
    DOCTEST_CHECK(holds(model::to_text(task_card(facts, model)), "they were not calibrated. Rank by them"));
    std::ofstream(folder / "calibration.json")
        << R"({"format": 1, "temperature": 2.5, "biases": [0, 1], "rows_of_validation": 1234,
               "cross_entropy_before": 0.5, "cross_entropy_after": 0.25})";
    const std::string calibrated = model::to_text(task_card(facts, model));
    DOCTEST_CHECK(holds(calibrated, "A temperature of 2.5"));
    DOCTEST_CHECK(holds(calibrated, "1,234 rows of validation"));
    DOCTEST_CHECK(holds(calibrated, " 1 of 2 labels have fewer than 50 positives there, and a bias of 0."));
    facts.task = examples::Task::tokens;
    std::ofstream(folder / "calibration.json")
        << R"({"format": 1, "temperature": 2.5, "biases": [0, 1], "bases_of_validation": 4321,
               "cross_entropy_before": 0.5, "cross_entropy_after": 0.25})";
    DOCTEST_CHECK(holds(model::to_text(task_card(facts, model)), "4,321 bases of validation"));
}
