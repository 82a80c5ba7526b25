// SPDX-License-Identifier: Apache-2.0
#include "support/temp_dir.hpp"
#include "support/testing.hpp"
#include "unit/task_models/tiny_task.hpp"

#include "bigbird/task_models/train/run_plan.hpp"

#include <fstream>

using namespace bigbird;
using namespace bigbird::testing;
using namespace bigbird::task_models;

namespace {

bool holds(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

DOCTEST_TEST_CASE("task_card: numbers are grouped by thousands") {
    DOCTEST_CHECK(with_commas(0) == "0");
    DOCTEST_CHECK(with_commas(999) == "999");
    DOCTEST_CHECK(with_commas(1000) == "1,000");
    DOCTEST_CHECK(with_commas(-1234567) == "-1,234,567");
}

DOCTEST_TEST_CASE("task_card: says what was learned from, what it is worth and how it is used") {
    TempDir folder;
    write_motif_examples(folder / "examples", 40, 3);
    const auto examples = examples::ExampleSet::load(folder / "examples");
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
    DOCTEST_CHECK(holds(text, "The weights are those of step 5."));
    DOCTEST_CHECK(holds(text, "| `--steps` | 7 |"));
    DOCTEST_CHECK(holds(text, "evaluate-chromatin --model-card FOLDER"));
    // SHA-256 of "abc", FIPS 180-2.
    DOCTEST_CHECK(holds(text, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
    DOCTEST_CHECK(holds(text, "they were not calibrated"));
    std::ofstream(folder / "calibration.json")
        << R"({"format": 1, "temperature": 2.5, "biases": [0, 1], "rows_of_validation": 1234,
               "cross_entropy_before": 0.5, "cross_entropy_after": 0.25})";
    const std::string calibrated = model::to_text(task_card(facts, model));
    DOCTEST_CHECK(holds(calibrated, "A temperature of 2.5"));
    DOCTEST_CHECK(holds(calibrated, "1,234 rows of validation"));
    facts.task = "tokens";
    std::ofstream(folder / "calibration.json")
        << R"({"format": 1, "temperature": 2.5, "biases": [0, 1], "bases_of_validation": 4321,
               "cross_entropy_before": 0.5, "cross_entropy_after": 0.25})";
    DOCTEST_CHECK(holds(model::to_text(task_card(facts, model)), "4,321 bases of validation"));
}
