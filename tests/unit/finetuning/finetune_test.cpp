// SPDX-License-Identifier: Apache-2.0
#include "bigbird/finetuning/finetune.hpp"

#include "support/metrics_lines.hpp"
#include "support/temp_dir.hpp"
#include "support/testing.hpp"
#include "unit/tasks/bin_examples.hpp"
#include "unit/tasks/labelled_genome.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/finetuning/run_plan.hpp"
#include "bigbird/model/weights.hpp"
#include "bigbird/rows/score_table.hpp"
#include "bigbird/scoring/rows/predict.hpp"

#include <ATen/ATen.h>

#include <sstream>

using namespace bigbird;
using namespace bigbird::testing;
using namespace bigbird::tasks;

namespace {

class FinetuneFixture {
public:
    explicit FinetuneFixture(std::int64_t rows) {
        write_motif_examples(folder_ / "examples", rows, 21);
        write_tiny_pretrained(folder_ / "pretrained", 1);
    }
    FinetuneSpec spec(const std::string& run) const {
        FinetuneSpec spec;
        spec.examples = folder_ / "examples";
        spec.pretrained = folder_ / "pretrained";
        spec.output = folder_ / run;
        spec.batch_size = 16;
        spec.learning_rate.peak = 3e-3;
        spec.device = "cpu";
        spec.threads = 1;
        return spec;
    }
    std::filesystem::path operator/(const std::string& name) const { return folder_ / name; }

private:
    TempDir folder_;
};

struct BinScene {
    TempDir folder;
    FinetuneSpec spec;
    BinScene() {
        write_bin_examples(folder / "e", 100, 1);
        write_json(folder / "small.json", bins::to_json(small_bins()), Overwrite::allow);
        spec.examples = folder / "e";
        spec.output = folder / "run";
        spec.architecture = bins_name;
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

FinetuneSpec spec_of(const LabelledGenome& genome) {
    write_tiny_pretrained(genome.folder / "pretrained", 1);
    FinetuneSpec spec = token_model_spec();
    spec.tokens.labels = genome.folder / "labels.bed";
    spec.tokens.references = {genome.folder / "genome.fa"};
    spec.pretrained = genome.folder / "pretrained";
    spec.output = genome.folder / "run";
    spec.tokens.validation = {"c:6001-7000"};
    spec.tokens.test = {"c:7001-8000"};
    spec.tokens.window = 200;
    spec.batch_size = 2;
    spec.learning_rate.total_steps = 3;
    spec.device = "cpu";
    spec.threads = 1;
    return spec;
}

}  // namespace

DOCTEST_TEST_CASE("finetune: a planted motif is learnt, a random label is not") {
    const FinetuneFixture fixture(800);
    FinetuneSpec spec = fixture.spec("run");
    spec.epochs = 12;
    spec.patience = 0;
    spec.pooling = "mean";
    const auto result = finetune(spec);
    DOCTEST_CHECK(result.steps == 300);
    DOCTEST_REQUIRE(result.best_step.has_value());
    const std::string metric = *metric_of(examples::ExampleSet::load(spec.examples));
    double best = 0;
    std::int64_t best_step = 0;
    for (const Json& line : metrics_of(fixture / "run")) {
        if (line.contains(metric) && line.at(metric).get<double>() > best) {
            best = line.at(metric).get<double>();
            best_step = line.at("step").get<std::int64_t>();
        }
    }
    DOCTEST_CHECK(best > 0.6);  // the mean of about 1 and about its base rate
    DOCTEST_CHECK(best_step == *result.best_step);
    const auto model = open_model(fixture / "run", examples::Task::chromatin, at::kCPU);
    DOCTEST_CHECK(model.labels[0].name == "motif");
    DOCTEST_CHECK(model.info.window == rows::WindowBounds{-100, 100});
    DOCTEST_CHECK(model.info.contigs.size() == 1);
    DOCTEST_CHECK(model.info.training.at("--batch-size") == 16);
    DOCTEST_CHECK(read_calibration(fixture / "run/model", 2).has_value());
    const std::string card = read_file(fixture / "run/model/README.md");
    DOCTEST_CHECK(holds(card, "The weights are those of step " + std::to_string(best_step) + "."));
}

DOCTEST_TEST_CASE("finetune: biases start at base rates, but at 0 where the head sees [CLS]") {
    const FinetuneFixture fixture(80);
    for (const char* pooling : {"cls", "centre"}) {
        FinetuneSpec spec = fixture.spec(pooling);
        spec.pooling = pooling;
        spec.learning_rate.total_steps = 1;
        spec.learning_rate.peak = 1e-9;
        finetune(spec);
        const auto model = open_model(spec.output, examples::Task::chromatin, at::kCPU);
        const bool is_zero = model.network->output_bias().abs().max().item<float>() < 1e-6F;
        DOCTEST_CHECK(is_zero == (spec.pooling == "cls"));
    }
}

DOCTEST_TEST_CASE("finetune: a learning rate that was not given follows the pretrained model's width") {
    const FinetuneFixture fixture(80);
    FinetuneSpec spec = fixture.spec("run");
    spec.learning_rate = {.peak = 0, .total_steps = 1};
    finetune(spec);
    const auto model = open_model(spec.output, examples::Task::chromatin, at::kCPU);
    const auto width = model::read_config(spec.pretrained).hidden_size;
    DOCTEST_CHECK(model.info.training.at("--learning-rate") == spec.peak_of(width));
}

DOCTEST_TEST_CASE("finetune: stopped and resumed is the same as uninterrupted") {
    const FinetuneFixture fixture(80);
    FinetuneSpec spec = fixture.spec("whole");
    spec.learning_rate.total_steps = 12;
    spec.run.checkpoint_every = 5;
    finetune(spec);
    spec.output = fixture / "parts";
    spec.run.max_hours = 1e-9;
    for (int part = 0; part < 12; ++part) {
        try {
            finetune(spec);
            break;
        } catch (const Stopped& stopped) {
            DOCTEST_CHECK(stopped.code() == ExitCode::stopped_early);
        }
    }
    DOCTEST_CHECK(read_file(fixture / "whole/model/model.safetensors") ==
                  read_file(fixture / "parts/model/model.safetensors"));
    DOCTEST_CHECK(read_file(fixture / "whole/model/config.json") ==
                  read_file(fixture / "parts/model/config.json"));
    DOCTEST_CHECK(finetune(spec).finished_before);
}

DOCTEST_TEST_CASE("finetune: other options or examples than the run was started with are refused") {
    const FinetuneFixture fixture(80);
    FinetuneSpec spec = fixture.spec("run");
    spec.learning_rate.total_steps = 2;
    finetune(spec);
    spec.learning_rate.peak = 1e-4;
    DOCTEST_CHECK(holds(message_of<ConfigError>([&] { finetune(spec); }),
                        "--learning-rate is 0.0001, but this run was started with 0.003"));
    spec.task = examples::Task::promoter;
    DOCTEST_CHECK(message_of<InputError>([&] { finetune(spec); }) ==
                  (fixture / "examples").string() + ": holds chromatin examples; use finetune-chromatin");
}

DOCTEST_TEST_CASE("finetune: bins, trains, says what it trained, and predicts examples") {
    BinScene scene;
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

DOCTEST_TEST_CASE("finetune: bins, a head of bins on BigBird, pretrained or with random weights") {
    BinScene scene;
    write_tiny_pretrained(scene.folder / "pretrained", 1);
    scene.spec.architecture = "bigbird";
    scene.spec.head = "bins";
    scene.spec.pretrained = scene.folder / "pretrained";
    scene.spec.bins.window = 160;
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

DOCTEST_TEST_CASE("finetune: bins, a bin model lends all weights but its labels'") {
    BinScene scene;
    const std::filesystem::path first = finetune(scene.spec).model;
    scene.spec.pretrained = scene.spec.output;
    scene.spec.output = scene.folder / "again";
    scene.spec.learning_rate.peak = 1e-9;
    scene.spec.seed = 5;
    const training::LoopResult result = finetune(scene.spec);
    const model::TensorMap before = model::read_weights(first), after = model::read_weights(result.model);
    for (const char* name : {"stem.0.convolution.weight", "encoder.0.query.weight", "head.norm.weight"})
        DOCTEST_CHECK(at::allclose(before.at(name), after.at(name), 0, 1e-6));
    DOCTEST_CHECK_FALSE(
        at::allclose(before.at("head.output.weight"), after.at("head.output.weight"), 0, 1e-3));
    const std::string training = read_task_info(result.model).training["--model"];
    DOCTEST_CHECK(training == "sha256:" + model::weights_checksum(first));
    scene.spec.output = scene.folder / "third";
    write_tiny_pretrained(scene.folder / "tokens", 1);
    scene.spec.pretrained = scene.folder / "tokens";
    DOCTEST_CHECK_THROWS_AS(finetune(scene.spec), InputError);
}

DOCTEST_TEST_CASE("finetune: bins, what does not belong is refused in a sentence") {
    const auto refusal = [](const std::function<void(FinetuneSpec&)>& spoil) {
        BinScene scene;
        spoil(scene.spec);
        return message_of<Error>([&] { finetune(scene.spec); });
    };
    DOCTEST_CHECK(refusal([](FinetuneSpec& spec) { spec.pretrained = "x"; }) == "x: no such model folder");
    DOCTEST_CHECK(refusal([](FinetuneSpec& spec) { spec.task = examples::Task::promoter; }) ==
                  "--architecture bigbird-bins scores bins: use finetune-chromatin");
    DOCTEST_CHECK(holds(refusal([](FinetuneSpec& spec) {
                            spec.window = rows::WindowBounds{-10, 10};
                        }),
                        "give --window BP"));
    DOCTEST_CHECK(
        holds(refusal([](FinetuneSpec& spec) { std::filesystem::remove(spec.examples / "bins.bed"); }),
              "holds no labels of whole stretches of bins"));
}

DOCTEST_TEST_CASE("finetune: tokens, a run leaves a model that says how it was made") {
    const LabelledGenome genome;
    const FinetuneSpec spec = spec_of(genome);
    const training::LoopResult result = finetune(spec);
    DOCTEST_CHECK(result.steps == 3);
    DOCTEST_CHECK(result.best_step.has_value());
    const ModelFolder loaded = open_model(spec.output, examples::Task::tokens, at::kCPU);
    DOCTEST_CHECK(loaded.info.window.size() == 200);
    DOCTEST_CHECK(loaded.info.margin == 25);
    DOCTEST_CHECK(loaded.labels.size() == 3);
    DOCTEST_CHECK(loaded.labels[1].positives == 58 * 42);  // of train, without the two places that are N
    DOCTEST_CHECK(loaded.info.training["--validation"][0] == "c:6000-7000");
    DOCTEST_CHECK(finetune(spec).finished_before);
    FinetuneSpec other = spec;
    other.positive_weight = std::nullopt;
    DOCTEST_CHECK(holds(message_of<ConfigError>([&] { finetune(other); }), "--label-weights"));
}

DOCTEST_TEST_CASE("finetune: tokens, --calibration none is recorded, and validation is not") {
    const LabelledGenome genome;
    FinetuneSpec spec = spec_of(genome);
    finetune(spec);
    DOCTEST_CHECK_FALSE(
        open_model(spec.output, examples::Task::tokens, at::kCPU).info.training.contains("--calibration"));
    const std::string card = read_file(spec.output / "model" / "README.md");
    DOCTEST_CHECK(holds(card, "They were fitted on 1,000 bases of validation"));
    spec.calibrates = false;
    DOCTEST_CHECK(holds(message_of<ConfigError>([&] { finetune(spec); }), "--calibration"));
    spec.output = genome.folder / "plain";
    finetune(spec);
    DOCTEST_CHECK(open_model(spec.output, examples::Task::tokens, at::kCPU).info.training["--calibration"] ==
                  "none");
    DOCTEST_CHECK(holds(read_file(spec.output / "model" / "README.md"), "they were not calibrated"));
    DOCTEST_CHECK_FALSE(std::filesystem::exists(spec.output / "model" / "calibration.json"));
}

DOCTEST_TEST_CASE("finetune: tokens, by default a window is what the model's positions hold") {
    const LabelledGenome genome;
    FinetuneSpec spec = spec_of(genome);
    spec.tokens.window = 0;
    spec.tokens.include = {"c:1-3000"};
    spec.tokens.validation = spec.tokens.test = {};
    finetune(spec);
    const ModelFolder loaded = open_model(spec.output, examples::Task::tokens, at::kCPU);
    DOCTEST_CHECK(loaded.info.window.size() > 510);  // of 512 positions each holds a base or more
    DOCTEST_CHECK(loaded.labels[1].positives == 28 * 42);
    spec.tokens.window = 5000;
    spec.output = genome.folder / "other";
    DOCTEST_CHECK(message_of<ConfigError>([&] {
                      finetune(spec);
                  }).starts_with("--window 5000: the model's positions hold the tokens of "));
}
