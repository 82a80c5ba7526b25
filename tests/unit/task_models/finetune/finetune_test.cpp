// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/finetune/finetune.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"
#include "unit/task_models/tiny_task.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/task_models/task_model.hpp"

#include <sstream>

using namespace bigbird;
using namespace bigbird::testing;
using task_models::finetune;
using task_models::FinetuneSpec;

namespace {

class Fixture {
public:
    explicit Fixture(std::int64_t rows) {
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

std::vector<Json> lines_of(const std::filesystem::path& run) {
    std::vector<Json> lines;
    std::istringstream text(read_file(run / "metrics.jsonl"));
    for (std::string line; std::getline(text, line);) {
        lines.push_back(Json::parse(line));
    }
    return lines;
}

}  // namespace

DOCTEST_TEST_CASE("scoring/finetune: a planted motif is learnt, a random label is not") {
    const Fixture fixture(800);
    FinetuneSpec spec = fixture.spec("run");
    spec.epochs = 12;
    spec.pooling = "mean";
    const auto result = finetune(spec);
    DOCTEST_CHECK(result.steps == 300);
    DOCTEST_REQUIRE(result.best_step.has_value());
    double best = 0;
    std::int64_t best_step = 0;
    for (const Json& line : lines_of(fixture / "run")) {
        if (line.contains("eval_auroc") && line.at("eval_auroc").get<double>() > best) {
            best = line.at("eval_auroc").get<double>();
            best_step = line.at("step").get<std::int64_t>();
        }
    }
    DOCTEST_CHECK(best > 0.7);  // the mean of about 1 and about 0.5
    DOCTEST_CHECK(best_step == *result.best_step);
    const auto model = task_models::load_task_model(fixture / "run", examples::Task::chromatin, at::kCPU);
    DOCTEST_CHECK(model.labels[0].name == "motif");
    DOCTEST_CHECK(model.info.window == rows::WindowBounds{-100, 100});
    DOCTEST_CHECK(model.info.contigs.size() == 1);
    DOCTEST_CHECK(model.info.training.at("--batch-size") == 16);
    DOCTEST_CHECK(task_models::read_calibration(fixture / "run/model", 2).has_value());
    const std::string card = read_file(fixture / "run/model/README.md");
    DOCTEST_CHECK(card.find("The weights are those of step " + std::to_string(best_step) + ".") !=
                  std::string::npos);
}

DOCTEST_TEST_CASE("scoring/finetune: biases start at base rates, but at 0 where the head sees [CLS]") {
    const Fixture fixture(80);
    for (const char* pooling : {"cls", "centre"}) {
        FinetuneSpec spec = fixture.spec(pooling);
        spec.pooling = pooling;
        spec.learning_rate.total_steps = 1;
        spec.learning_rate.peak = 1e-9;
        finetune(spec);
        const auto model = task_models::load_task_model(spec.output, examples::Task::chromatin, at::kCPU);
        const bool is_zero = model.network->output_bias().abs().max().item<float>() < 1e-6F;
        DOCTEST_CHECK(is_zero == (spec.pooling == "cls"));
    }
}

DOCTEST_TEST_CASE("scoring/finetune: stopped and resumed is the same as uninterrupted") {
    const Fixture fixture(80);
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

DOCTEST_TEST_CASE("scoring/finetune: other options or examples than the run was started with are refused") {
    const Fixture fixture(80);
    FinetuneSpec spec = fixture.spec("run");
    spec.learning_rate.total_steps = 2;
    finetune(spec);
    spec.learning_rate.peak = 1e-4;
    DOCTEST_CHECK(message_of<ConfigError>([&] {
                      finetune(spec);
                  }).find("--learning-rate is 0.0001, but this run was started with 0.003") !=
                  std::string::npos);
    spec.task = examples::Task::promoter;
    DOCTEST_CHECK(message_of<InputError>([&] { finetune(spec); }) ==
                  (fixture / "examples").string() + ": holds chromatin examples; use finetune-chromatin");
}
