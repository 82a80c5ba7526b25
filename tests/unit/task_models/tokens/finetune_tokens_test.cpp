// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/tokens/finetune_tokens.hpp"

#include "unit/task_models/tokens/labelled_genome.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/model/model_directory.hpp"

using namespace bigbird;
using namespace bigbird::testing;
using namespace bigbird::task_models;

namespace {

FinetuneTokensSpec spec_of(const LabelledGenome& genome) {
    write_tiny_pretrained(genome.folder / "pretrained", 1);
    FinetuneTokensSpec spec;
    spec.labels = genome.folder / "labels.bed";
    spec.references = {genome.folder / "genome.fa"};
    spec.pretrained = genome.folder / "pretrained";
    spec.output = genome.folder / "run";
    spec.validation = {"c:6001-7000"};
    spec.test = {"c:7001-8000"};
    spec.window = 200;
    spec.batch_size = 2;
    spec.learning_rate.total_steps = 3;
    spec.device = "cpu";
    spec.threads = 1;
    return spec;
}

}  // namespace

DOCTEST_TEST_CASE("finetune_tokens: a run leaves a model that says how it was made") {
    const LabelledGenome genome;
    const FinetuneTokensSpec spec = spec_of(genome);
    const training::LoopResult result = finetune_tokens(spec);
    DOCTEST_CHECK(result.steps == 3);
    DOCTEST_CHECK(result.best_step.has_value());
    const LoadedLabeller loaded = load_labeller(spec.output, at::kCPU, {});
    DOCTEST_CHECK(loaded.info.window == 200);
    DOCTEST_CHECK(loaded.info.margin == 25);
    DOCTEST_CHECK(loaded.labels.size() == 3);
    DOCTEST_CHECK(loaded.labels[1].positives == 58 * 42);  // of train, without the two places that are N
    DOCTEST_CHECK(loaded.info.training["--validation"][0] == "c:6000-7000");
    DOCTEST_CHECK(finetune_tokens(spec).finished_before);
    FinetuneTokensSpec other = spec;
    other.label_weights = LabelWeights::balanced;
    DOCTEST_CHECK(message_of<ConfigError>([&] { finetune_tokens(other); }).find("--label-weights") !=
                  std::string::npos);
}

DOCTEST_TEST_CASE("finetune_tokens: --calibration none is recorded, and validation is not") {
    const LabelledGenome genome;
    FinetuneTokensSpec spec = spec_of(genome);
    finetune_tokens(spec);
    DOCTEST_CHECK_FALSE(load_labeller(spec.output, at::kCPU, {}).info.training.contains("--calibration"));
    const std::string card = read_file(spec.output / "model" / "README.md");
    DOCTEST_CHECK(card.find("They were fitted on 1,000 bases of validation") != std::string::npos);
    spec.calibrates = false;
    DOCTEST_CHECK(message_of<ConfigError>([&] { finetune_tokens(spec); }).find("--calibration") !=
                  std::string::npos);
    spec.output = genome.folder / "plain";
    finetune_tokens(spec);
    DOCTEST_CHECK(load_labeller(spec.output, at::kCPU, {}).info.training["--calibration"] == "none");
    DOCTEST_CHECK(read_file(spec.output / "model" / "README.md").find("they were not calibrated") !=
                  std::string::npos);
    DOCTEST_CHECK_FALSE(std::filesystem::exists(spec.output / "model" / "calibration.json"));
}

DOCTEST_TEST_CASE("finetune_tokens: by default a window is what the model's positions hold") {
    const LabelledGenome genome;
    FinetuneTokensSpec spec = spec_of(genome);
    spec.window = 0;
    spec.include = {"c:1-3000"};
    spec.validation = spec.test = {};
    finetune_tokens(spec);
    const LoadedLabeller loaded = load_labeller(spec.output, at::kCPU, {});
    DOCTEST_CHECK(loaded.info.window > 510);  // of 512 positions each holds a base or more
    DOCTEST_CHECK(loaded.labels[1].positives == 28 * 42);
    spec.window = 5000;
    spec.output = genome.folder / "other";
    DOCTEST_CHECK(message_of<ConfigError>([&] {
                      finetune_tokens(spec);
                  }).starts_with("--window 5000: the model's positions hold the tokens of "));
}
