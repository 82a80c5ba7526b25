// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/finetune/finetune_bins.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"
#include "unit/task_models/bin_examples.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/model/weights.hpp"
#include "bigbird/rows/score_table.hpp"
#include "bigbird/task_models/finetune/finetune.hpp"
#include "bigbird/task_models/predict/predict.hpp"

using namespace bigbird;
using namespace bigbird::testing;
using namespace bigbird::task_models;

namespace {

struct Scene {
    TempDir folder;
    FinetuneSpec spec;
    Scene() {
        write_bin_examples(folder / "e", 100, 1);
        write_json(folder / "small.json", bins::to_json(small_bins()), Overwrite::allow);
        spec.examples = folder / "e";
        spec.output = folder / "run";
        spec.architecture = bins_architecture;
        spec.bins.config = (folder / "small.json").string();
        spec.learning_rate.total_steps = 4;
        spec.batch_size = 2;
        spec.device = "cpu";
        spec.threads = 1;
    }
    /// Of the test bins, by `model`.
    PredictSpec scoring(const std::filesystem::path& model) const {
        PredictSpec scored;
        scored.models = {model};
        scored.examples = spec.examples;
        scored.split = examples::Split::test;
        scored.outputs.paths = {folder / "scores.tsv"};
        scored.device = "cpu";
        scored.threads = 1;
        return scored;
    }
};

}  // namespace

DOCTEST_TEST_CASE("finetune bins: trains, says what it trained, and predicts examples") {
    Scene scene;
    const training::LoopResult result = finetune(scene.spec);
    DOCTEST_CHECK(result.steps == 4);
    const TaskInfo info = read_task_info(result.model);
    DOCTEST_CHECK(info.architecture == "bigbird-bins");
    DOCTEST_CHECK(info.window == rows::WindowBounds{-80, 80});
    DOCTEST_CHECK(info.training["--steps"] == 4);
    DOCTEST_CHECK(finetune(scene.spec).finished_before);
    PredictSpec predict_spec = scene.scoring(result.model);
    const PredictReport report = predict(predict_spec);
    DOCTEST_CHECK(report.rows == 20);
    DOCTEST_CHECK(report.scored == 20);
    // The same rows on the reference: nothing of train or validation is near enough to be missed.
    write_file(scene.folder / "c.fa", ">c\n" + BinGenome(100, 1).dna + "\n");
    predict_spec.examples.clear();
    predict_spec.regions = scene.spec.examples / "test.bed";
    predict_spec.references = {scene.folder / "c.fa"};
    predict_spec.outputs.paths = {scene.folder / "again.tsv"};
    predict(predict_spec);
    const auto rows = [&](const char* name) {
        const std::string text = read_file(scene.folder / name);
        return text.substr(text.find("\nc\t"));
    };
    DOCTEST_CHECK(rows("scores.tsv") == rows("again.tsv"));
}

DOCTEST_TEST_CASE("finetune bins: a head of bins on BigBird, pretrained or with random weights") {
    Scene scene;
    write_tiny_pretrained(scene.folder / "pretrained", 1);
    scene.spec.architecture = "bigbird";
    scene.spec.head = "bins";
    scene.spec.pretrained = scene.folder / "pretrained";
    scene.spec.bins.window_bins = 8;
    const training::LoopResult result = finetune(scene.spec);
    const TaskInfo info = read_task_info(result.model);
    DOCTEST_CHECK(info.architecture == "bigbird");
    DOCTEST_CHECK(info.window == rows::WindowBounds{-80, 80});
    DOCTEST_CHECK(info.training["--head"] == "bins");
    PredictSpec predict_spec = scene.scoring(result.model);
    DOCTEST_CHECK(predict(predict_spec).scored == 20);
    FinetuneSpec random = scene.spec;
    random.random_weights = true;
    random.output = scene.folder / "random";
    DOCTEST_CHECK(model::weights_checksum(finetune(random).model) != model::weights_checksum(result.model));
}

DOCTEST_TEST_CASE("finetune bins: the grid of tokens is what fits, or what is asked for") {
    DOCTEST_CHECK(token_grid({}, 200, 53) == bins::Grid{200, 48, 6});
    DOCTEST_CHECK(token_grid({}, 200, 5) == bins::Grid{200, 5, 0});
    BinsSpec spec;
    spec.window_bins = 20;
    spec.margin_bins = 3;
    DOCTEST_CHECK(token_grid(spec, 100, 53) == bins::Grid{100, 20, 3});
    DOCTEST_CHECK(message_of<ConfigError>([&] { token_grid(spec, 100, 19); }) ==
                  "--window-bins 20: the model's positions hold the tokens of 19 bins");
}

DOCTEST_TEST_CASE("finetune bins: window and margin by options, and dropout everywhere") {
    BinsSpec spec;
    spec.window_bins = 128;
    bins::BinsConfig config = bins_config(spec, 0.3, 200);
    DOCTEST_CHECK(config.window_positions() == 128);
    DOCTEST_CHECK(config.margin_bins == 16);
    DOCTEST_CHECK(config.head_dropout == 0.3);
    spec.margin_bins = 0;
    config = bins_config(spec, {}, 400);
    DOCTEST_CHECK(config.margin_bins == 0);
    DOCTEST_CHECK(config.window_positions() == 256);
    spec.window_bins = 100;
    DOCTEST_CHECK_THROWS_AS(bins_config(spec, {}, 200), ConfigError);  // no whole blocks of 64
}

DOCTEST_TEST_CASE("finetune bins: what does not belong is refused in a sentence") {
    const auto refusal = [](const std::function<void(FinetuneSpec&)>& spoil) {
        Scene scene;
        spoil(scene.spec);
        return message_of<Error>([&] { finetune(scene.spec); });
    };
    DOCTEST_CHECK(refusal([](FinetuneSpec& spec) { spec.pretrained = "x"; }) ==
                  "--model is not of --architecture bigbird-bins: it starts from nothing");
    DOCTEST_CHECK(refusal([](FinetuneSpec& spec) { spec.task = examples::Task::promoter; }) ==
                  "--architecture bigbird-bins scores bins: use finetune-chromatin");
    DOCTEST_CHECK(refusal([](FinetuneSpec& spec) {
                      spec.window = rows::WindowBounds{-10, 10};
                  }).find("give --window-bins") != std::string::npos);
    DOCTEST_CHECK(refusal([](FinetuneSpec& spec) {
                      std::filesystem::remove(spec.examples / "bins.bed");
                  }).find("holds no labels of whole stretches of bins") != std::string::npos);
}
