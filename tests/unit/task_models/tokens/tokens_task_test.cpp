// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/tokens/tokens_task.hpp"

#include "support/tensors.hpp"
#include "unit/task_models/tokens/labelled_genome.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/json_file.hpp"

#include <cmath>

using namespace bigbird;
using namespace bigbird::testing;
using namespace bigbird::task_models;

namespace {

struct Scene {
    LabelledGenome genome;
    LabelSplits splits{genome.windows(0, 6000), genome.windows(6000, 8000)};

    static FinetuneTokensSpec spec(std::int64_t batch_size) {
        FinetuneTokensSpec spec;
        spec.batch_size = batch_size;
        spec.both_strands = true;
        spec.seed = 3;
        return spec;
    }
    std::unique_ptr<TokensTask> task(const FinetuneTokensSpec& spec) const {
        model::BigBirdConfig config = tiny_labeller_config();
        config.hidden_dropout_prob = 0.1;
        model::SequenceClassifier network(config);
        model::initialise(*network, config, 7);
        auto labeller = std::make_unique<TokenLabeller>(std::move(network), small_tokenizer(), Computing{});
        return std::make_unique<TokensTask>(std::move(labeller), splits,
                                            TokensInfo{.window = 200, .margin = 25}, tiny_labels(), spec);
    }
};

std::vector<at::Tensor> gradients(TokensTask& task) {
    std::vector<at::Tensor> all;
    for (const at::Tensor& parameter : task.module().parameters())
        if (parameter.grad().defined()) all.push_back(parameter.grad().clone());
    return all;
}

training::LoopSpec loop_of(std::int64_t steps, double rate) {
    training::LoopSpec loop;
    loop.learning_rate = {
        .peak = rate, .warmup_steps = 5, .total_steps = steps, .decay = training::Decay::cosine};
    return loop;
}

}  // namespace

DOCTEST_TEST_CASE("tokens task: the loss begins at what base rates give, and is a mean over bases") {
    const Scene scene;
    const auto task = scene.task(Scene::spec(16));
    const auto& counts = scene.splits.train.counts();
    double entropy = 0;
    for (const std::int64_t count : counts) {
        const double rate = static_cast<double>(count) / static_cast<double>(scene.splits.train.bases());
        entropy -= rate * std::log(rate);
    }
    DOCTEST_CHECK(task->accumulate(1).loss.item<double>() == doctest::Approx(entropy).epsilon(0.05));
}

DOCTEST_TEST_CASE("tokens task: a batch in parts has the gradients of a batch at once") {
    const Scene scene;
    FinetuneTokensSpec spec = Scene::spec(6);
    const auto whole = scene.task(spec);
    spec.batch_tokens = 1;  // a window at a time
    const auto cut = scene.task(spec);
    const double a = whole->accumulate(4).loss.item<double>(), b = cut->accumulate(4).loss.item<double>();
    DOCTEST_CHECK(a == doctest::Approx(b).epsilon(1e-5));
    const auto one = gradients(*whole), two = gradients(*cut);
    DOCTEST_REQUIRE(one.size() == two.size());
    for (std::size_t i = 0; i < one.size(); ++i)
        DOCTEST_CHECK(difference(one[i], two[i]) < 1e-5);
}

DOCTEST_TEST_CASE("tokens task: balanced weights give labels the same sum, at most 100 times the least") {
    DOCTEST_CHECK(weights_of_labels(LabelWeights::uniform, {900, 100, 1}) == std::vector<double>{1, 1, 1});
    DOCTEST_CHECK(weights_of_labels(LabelWeights::balanced, {900, 100, 1, 0}) ==
                  std::vector<double>{1, 9, 100, 1});
}

DOCTEST_TEST_CASE("tokens task: figures count the labels that have ten bases, but that of no row") {
    at::Tensor truth = at::zeros({60}, at::kLong), scores = at::zeros({60, 3});
    truth.narrow(0, 10, 20).fill_(1);
    truth.narrow(0, 50, 5).fill_(2);
    scores.select(1, 0).fill_(0.4);
    scores.select(1, 1).narrow(0, 20, 20).fill_(0.6);  // ten right, ten wrong
    const Json figures = label_figures(scores, truth);
    DOCTEST_CHECK(figures["eval_labels"] == 1);
    DOCTEST_CHECK(figures["eval_f1"].get<double>() == doctest::Approx(0.5));
    DOCTEST_CHECK(figures["eval_auroc"].get<double>() == doctest::Approx(0.625));
    DOCTEST_CHECK(label_figures(scores, at::zeros({60}, at::kLong))["eval_auroc"].is_null());
}

DOCTEST_TEST_CASE("tokens task: an interrupted run equals an uninterrupted one bit for bit") {
    const Scene scene;
    training::LoopSpec loop = loop_of(9, 3e-3);
    loop.evaluate_every = 4;
    loop.run.checkpoint_every = 3;
    loop.selection = training::Selection{.metric = "eval_auroc", .higher_is_better = true};
    const auto whole = scene.task(Scene::spec(4));
    training::run_training(*whole, loop, scene.genome.folder / "whole");
    const auto begun = scene.task(Scene::spec(4));
    loop.run.max_hours = 1e-9;
    DOCTEST_CHECK_THROWS_AS(training::run_training(*begun, loop, scene.genome.folder / "cut"), Stopped);
    loop.run.max_hours = 0;
    const auto other = scene.task(Scene::spec(4));
    training::run_training(*other, loop, scene.genome.folder / "cut");
    for (const char* file : {"model/model.safetensors", "checkpoints/step-00000009/model.safetensors"}) {
        DOCTEST_CHECK(read_file(scene.genome.folder / "cut" / file) ==
                      read_file(scene.genome.folder / "whole" / file));
    }
}

DOCTEST_TEST_CASE("tokens task: a model written right after an evaluation has a calibration") {
    const Scene scene;
    FinetuneTokensSpec spec = Scene::spec(4);
    spec.label_weights = LabelWeights::balanced;
    const auto task = scene.task(spec);
    const auto written = [&](const char* name) {
        const std::filesystem::path folder = scene.genome.folder / name;
        std::filesystem::create_directories(folder);
        task->write_model(folder);
        return folder / "calibration.json";
    };
    task->accumulate(1);
    DOCTEST_CHECK_FALSE(std::filesystem::exists(written("not evaluated")));
    const double loss = task->evaluate()["eval_loss"].get<double>();
    const Json json = read_json(written("evaluated"));
    DOCTEST_CHECK(json["biases"].size() == 3);
    DOCTEST_CHECK(json["bases_of_validation"] == scene.splits.validation.bases());
    DOCTEST_CHECK(json["cross_entropy_before"].get<double>() == doctest::Approx(loss).epsilon(1e-6));
    // Balanced weights begin at even odds of the labels, whose entropy is ln 3.
    DOCTEST_CHECK(loss > 1);
    DOCTEST_CHECK(json["cross_entropy_after"].get<double>() < 0.95);
    task->accumulate(2);
    DOCTEST_CHECK_FALSE(std::filesystem::exists(written("trained on")));
    spec.calibrates = false;
    const auto plain = scene.task(spec);
    plain->evaluate();
    std::filesystem::create_directories(scene.genome.folder / "plain");
    plain->write_model(scene.genome.folder / "plain");
    DOCTEST_CHECK_FALSE(std::filesystem::exists(scene.genome.folder / "plain" / "calibration.json"));
}

DOCTEST_TEST_CASE("tokens task: learns which bases a motif covers, and not which are random") {
    const Scene scene;
    const auto task = scene.task(Scene::spec(8));
    const double before = task->evaluate()["eval_auroc"].get<double>();
    training::run_training(*task, loop_of(150, 1e-2), scene.genome.folder / "run");
    const Json figures = task->evaluate();
    DOCTEST_CHECK(figures["eval_labels"] == 2);
    DOCTEST_CHECK(before < 0.7);
    DOCTEST_CHECK(figures["eval_auroc"].get<double>() > 0.72);  // 0.95 and about 0.5
    DOCTEST_CHECK(figures["eval_loss"].get<double>() < 0.6);
}

DOCTEST_TEST_CASE("tokens task: nothing to learn is said") {
    const Scene scene;
    const LabelSplits none{scene.genome.windows(1000, 1200), scene.genome.windows(0, 0)};
    const LabelSplits bare{scene.genome.windows(90, 100), scene.genome.windows(0, 0)};
    const auto refusal = [&](const LabelSplits& splits) {
        return message_of<InputError>([&] {
            TokensTask(tiny_labeller(1), splits, {.window = 200, .margin = 25}, tiny_labels(),
                       Scene::spec(2));
        });
    };
    DOCTEST_CHECK(refusal(none) == "no base is left to learn from that is neither N nor held out");
    DOCTEST_CHECK(refusal(bare) == "no base of train has a label: there is nothing to learn");
}
