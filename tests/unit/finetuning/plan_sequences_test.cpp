// SPDX-License-Identifier: Apache-2.0
#include "support/metrics_lines.hpp"
#include "support/temp_dir.hpp"
#include "support/testing.hpp"
#include "unit/tasks/sequence_examples.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/finetuning/example_data.hpp"
#include "bigbird/finetuning/finetune.hpp"
#include "bigbird/model/weights.hpp"
#include "bigbird/tasks/sequence_network.hpp"

using namespace bigbird;
using namespace bigbird::testing;
using namespace bigbird::tasks;
using examples::TargetKind;
namespace fs = std::filesystem;

namespace {

struct SequenceScene {
    TempDir folder;
    FinetuneSpec spec = sequence_model_spec();

    explicit SequenceScene(TargetKind target = TargetKind::classes, std::int64_t rows = 400) {
        write_sequence_rows(folder / "e", rows, 3, target);
        write_json(folder / "small.json",
                   {{"filters", 16}, {"width", 11}, {"hidden", 16}, {"heads", 2}, {"dense", 8}},
                   Overwrite::allow);
        spec.examples = folder / "e";
        spec.output = folder / "run";
        spec.sequence.config = folder / "small.json";
        spec.sequence.members = 2;
        spec.sequence.motifs = 4;
        spec.learning_rate.total_steps = 6;
        spec.batch_size = 16;
        spec.device = "cpu";
        spec.threads = 1;
    }
    std::string refusal() const {
        return message_of<ConfigError>([&] { finetune(spec); });
    }
};

}  // namespace

DOCTEST_TEST_CASE("plan_sequences: members and k-mers become one model") {
    SequenceScene scene;
    const training::LoopResult result = finetune(scene.spec);
    const Json metrics = metrics_of(scene.spec.output).front();
    DOCTEST_CHECK(metrics.at("eval_auroc") > 0.9);  // the k-mers know it; the networks have had six steps
    DOCTEST_CHECK(metrics.at("kmer_share") > 0.0);
    DOCTEST_CHECK(metrics.at("best_steps").size() == 2);
    const ModelFolder model = open_model(result.model, examples::Task::sequences, at::kCPU);
    const auto& network = dynamic_cast<const SequenceNetwork&>(*model.network);
    DOCTEST_CHECK(network.shape().members == 2);
    DOCTEST_CHECK(network.shape().kmers.has_value());
    DOCTEST_CHECK(holds(read_file(result.model / "README.md"),
                        "they were not calibrated, since no label has 50 positives"));
    DOCTEST_CHECK(finetune(scene.spec).finished_before);
}

DOCTEST_TEST_CASE("plan_sequences: a run that was stopped goes on with the members it has") {
    SequenceScene scene;
    const training::LoopResult whole = finetune(scene.spec);
    const std::string sum = model::weights_checksum(whole.model);
    fs::remove_all(scene.spec.output / "model");
    fs::remove_all(scene.spec.output / "members/2/model");
    const auto first = fs::last_write_time(scene.spec.output / "members/1/model/model.safetensors");
    const training::LoopResult again = finetune(scene.spec);
    DOCTEST_CHECK(!again.finished_before);
    DOCTEST_CHECK(model::weights_checksum(again.model) == sum);
    DOCTEST_CHECK(fs::last_write_time(scene.spec.output / "members/1/model/model.safetensors") == first);
}

DOCTEST_TEST_CASE("plan_sequences: numbers, counts and labels") {
    for (const bool poisson : {false, true}) {
        SequenceScene scene(TargetKind::numbers, 200);
        if (poisson) scene.spec.sequence.loss = NumberLoss::poisson;
        scene.spec.linear.word = 4;
        const training::LoopResult result = finetune(scene.spec);
        const ModelFolder model = open_model(result.model, examples::Task::sequences, at::kCPU);
        DOCTEST_CHECK(model.info.link() == (poisson ? LinkFunction::exponential : LinkFunction::identity));
        std::vector<EncodedWindow> windows{model.network->encode(random_dna(80, 1), false)};
        const at::Tensor number =
            model.calibration.probabilities(batched_logits(*model.network, windows, 4096));
        DOCTEST_CHECK(number.item<double>() > 5);  // activities are 10 to 19
        DOCTEST_CHECK(number.item<double>() < 25);
        DOCTEST_CHECK(!fs::exists(result.model / "calibration.json"));
    }
    SequenceScene labels(TargetKind::labels, 200);
    labels.spec.architecture = "kmer-logistic";
    finetune(labels.spec);
    DOCTEST_CHECK(metrics_of(labels.spec.output).front().contains("penalty"));
}

DOCTEST_TEST_CASE("plan_sequences: networks of windows read the middle of a record") {
    SequenceScene scene;
    scene.spec.architecture = "cnnprom";
    scene.spec.learning_rate.total_steps = 1;
    const training::LoopResult result = finetune(scene.spec);
    const ModelFolder model = open_model(result.model, examples::Task::sequences, at::kCPU);
    DOCTEST_CHECK(model.info.window.size() == 251);
    DOCTEST_CHECK(!model.network->any_length());
}

DOCTEST_TEST_CASE("plan_sequences: a pretrained model of tokens learns records of any length") {
    SequenceScene scene;
    write_tiny_pretrained(scene.folder / "pretrained", 1);
    scene.spec.architecture = "bigbird";
    scene.spec.pretrained = scene.folder / "pretrained";
    scene.spec.learning_rate.total_steps = 1;
    const training::LoopResult result = finetune(scene.spec);
    const ModelFolder model = open_model(result.model, examples::Task::sequences, at::kCPU);
    DOCTEST_CHECK(model.info.link() == LinkFunction::softmax);
    DOCTEST_CHECK(model.network->labels() == 2);
}

DOCTEST_TEST_CASE("plan_sequences: what does not fit is refused before anything is trained") {
    SequenceScene scene;
    scene.spec.sequence.loss = NumberLoss::poisson;
    DOCTEST_CHECK(scene.refusal() == "--loss poisson is for numbers: the examples have classes");
    scene.spec.sequence.loss = NumberLoss::squared;
    scene.spec.architecture = "kmer-ridge";
    DOCTEST_CHECK(scene.refusal() ==
                  "--architecture kmer-ridge is for numbers: for classes and labels there is kmer-logistic");
    scene.spec.architecture = "gkm-svm";
    DOCTEST_CHECK(
        scene.refusal() ==
        "--architecture gkm-svm is for windows of the genome: for sequences there is kmer-logistic");
    SequenceScene numbers(TargetKind::numbers, 40);
    numbers.spec.architecture = "kmer-logistic";
    DOCTEST_CHECK(numbers.refusal() ==
                  "--architecture kmer-logistic is for classes and labels: for numbers there is kmer-ridge");
    DOCTEST_CHECK(!fs::exists(numbers.spec.output / "model"));
}
