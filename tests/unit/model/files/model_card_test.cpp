// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/files/model_card.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

#include <fstream>
#include <sstream>

using namespace bigbird;
using namespace bigbird::model;

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
