// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/files/model_card.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/model/files/python_file.hpp"

#include <fstream>
#include <sstream>

using namespace bigbird;
using namespace bigbird::model;
using namespace bigbird::testing;

namespace {

ModelCard small_card() {
    return {.name = "a \"small\" model",
            .summary = "It tells promoters.",
            .tags = {"promoter"},
            .results = {{.task = card_task("promoter"),
                         .split = "validation",
                         .data = "20 rows",
                         .metrics = {{"roc_auc", "Mean AUROC", 0.875}}}},
            .test_advice = "Not looked at yet.",
            .before = {{"Use", "Type this."}},
            .after = {{"Limits", "- It is small."}}};
}

CardResult test_result(double value) {
    return {.task = card_task("promoter"),
            .split = "test",
            .data = "30 rows",
            .metrics = {{"roc_auc", "Mean AUROC", value}}};
}

}  // namespace

DOCTEST_TEST_CASE("model card: metadata and text as they are written") {
    const std::string text = to_text(small_card());
    DOCTEST_CHECK(text.starts_with(R"(---
library_name: bigbird-dna
tags: [genomics, dna, promoter]
model-index:
  - name: "a \"small\" model"
    results:
      # validation: figures
      - task: {type: text-classification, name: "Promoter regions"}
        dataset: {type: own, name: "20 rows", split: validation}
        metrics:
          - {type: roc_auc, name: "Mean AUROC", value: 0.875}
      # validation: end
      # test: figures
      # test: end
---
# a "small" model

It tells promoters.

## Use

Type this.

## Accuracy

### Rows of validation

<!-- validation -->
On 20 rows:

| figure | value |
|---|---|
| Mean AUROC | 0.875 |
<!-- end of validation -->

### Rows of test

<!-- test -->
Not looked at yet.
<!-- end of test -->

## Limits

- It is small.

Made by bigbird-dna )"));
}

DOCTEST_TEST_CASE("model card: results of test are put in, and put in again") {
    const std::string once = with_result(to_text(small_card()), test_result(0.5)),
                      twice = with_result(once, test_result(0.75));
    DOCTEST_CHECK(once.find("value: 0.5}") != std::string::npos);
    DOCTEST_CHECK(once.find("| Mean AUROC | 0.5 |") != std::string::npos);
    DOCTEST_CHECK(once.find("Not looked at yet") == std::string::npos);
    DOCTEST_CHECK(once.find("| Mean AUROC | 0.875 |") != std::string::npos);
    DOCTEST_CHECK(twice == with_result(to_text(small_card()), test_result(0.75)));
    DOCTEST_CHECK_THROWS_AS(with_result("# of my own\n", test_result(0.5)), ConfigError);
}

DOCTEST_TEST_CASE("model card: without figures there is an empty list of them, or none") {
    ModelCard card = small_card();
    card.results.clear();
    const std::string empty = to_text(card);
    DOCTEST_CHECK(empty.find("    results: []\n") != std::string::npos);
    DOCTEST_CHECK(empty.find("<!-- validation -->\nThere were none.\n") != std::string::npos);
    const std::string with_test = with_result(empty, test_result(0.5));
    DOCTEST_CHECK(with_test.find("    results:\n") != std::string::npos);
    DOCTEST_CHECK(with_test.find("results: []") == std::string::npos);
    card.test_advice.clear();
    DOCTEST_CHECK(to_text(card).find("model-index") == std::string::npos);
    DOCTEST_CHECK(to_text(card).find("Accuracy") == std::string::npos);
}

DOCTEST_TEST_CASE("model card: a folder's card is changed in its place, and must be one") {
    testing::TempDir folder;
    DOCTEST_CHECK_THROWS_AS(add_to_card(folder.path(), test_result(0.5)), InputError);
    std::ofstream(folder / "README.md") << to_text(small_card());
    add_to_card(folder.path(), test_result(0.5));
    std::ostringstream text;
    text << std::ifstream(folder / "README.md").rdbuf();
    DOCTEST_CHECK(text.str() == with_result(to_text(small_card()), test_result(0.5)));
    std::ofstream(folder / "README.md") << "# of my own\n";
    DOCTEST_CHECK_THROWS_AS(add_to_card(folder.path(), test_result(0.5)), InputError);
}

DOCTEST_TEST_CASE("model card: what is not known of an evaluation is left out, options of objects too") {
    const auto metrics = card_metrics({{"eval_auroc", 0.5}, {"eval_auprc", nullptr}, {"eval_seconds", 3}});
    DOCTEST_REQUIRE(metrics.size() == 1);
    DOCTEST_CHECK(metrics[0].type == "roc_auc");
    const auto rows = card_options({{"--steps", 5}, {"--config", {{"hidden_size", 4}}}, {"--head", "bins"}});
    DOCTEST_REQUIRE(rows.size() == 2);
    DOCTEST_CHECK(rows[0] == std::pair<std::string, std::string>("`--steps`", "5"));
    DOCTEST_CHECK(rows[1].second == "bins");
}

namespace {

std::string source_of(const std::string& name) {
    return read_file(test_data("../lib/bigbird/model/files/data/" + name));
}

}  // namespace

DOCTEST_TEST_CASE(
    "python_file: folders that transformers lacks carry the clone's Python file and name its classes") {
    const std::string tokens = source_of("modeling_bigbird_dna.py"), bases = source_of("bases_models.py");
    for (const auto& [type, general, own, text] :
         {std::tuple{"bigbird_dna", "AutoModelForPreTraining", "BigBirdDnaForPreTraining", tokens},
          std::tuple{"bigbird_dna_bins", "AutoModel", "BigBirdDnaBins", tokens + "\n\n" + bases},
          std::tuple{"bigbird_dna_sequence", "AutoConfig", "BigBirdDnaSequenceConfig",
                     tokens + "\n\n" + bases},
          std::tuple{"bigbird_dna_baseline", "AutoModel", "BigBirdDnaBaseline", tokens + "\n\n" + bases}}) {
        const TempDir folder;
        write_config({{"model_type", type}, {"num_labels", 2}}, folder.path());
        const Json config = read_json(folder / "config.json");
        DOCTEST_CHECK(config.at("auto_map").at(general) == std::string("modeling_bigbird_dna.") + own);
        DOCTEST_CHECK(config.at("num_labels") == 2);
        DOCTEST_CHECK(read_file(folder / python_file) == text);
        DOCTEST_CHECK(text.find("class " + std::string(own) + "(") != std::string::npos);
    }
}

DOCTEST_TEST_CASE("python_file: models that transformers has itself need none") {
    for (const char* type : {"big_bird", "longformer"}) {
        const TempDir folder;
        write_config({{"model_type", type}}, folder.path());
        DOCTEST_CHECK_FALSE(read_json(folder / "config.json").contains("auto_map"));
        DOCTEST_CHECK_FALSE(std::filesystem::exists(folder / python_file));
    }
}

DOCTEST_TEST_CASE("python_file: the model that comes along has this version's file") {
    const std::filesystem::path folder = test_data("models/chromatin-grch37");
    DOCTEST_CHECK(read_json(folder / "config.json").at("auto_map").at("AutoModel") ==
                  "modeling_bigbird_dna.BigBirdDnaBins");
    DOCTEST_CHECK(read_file(folder / python_file) ==
                  source_of("modeling_bigbird_dna.py") + "\n\n" + source_of("bases_models.py"));
}
