// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/finetune/bins_task.hpp"

#include "support/temp_dir.hpp"
#include "support/tensors.hpp"
#include "support/testing.hpp"
#include "unit/examples/change_example.hpp"
#include "unit/task_models/bin_examples.hpp"

#include "bigbird/core/error.hpp"

using namespace bigbird;
using namespace bigbird::testing;
using namespace bigbird::task_models;

namespace {

struct Scene {
    TempDir folder;
    std::optional<examples::LabelledBins> bins;
    explicit Scene(std::int64_t count = 100) {
        write_bin_examples(folder / "e", count, 1);
        bins = examples::LabelledBins::load(folder / "e");
    }
    BinsTask task(const ClassifierSpec& spec, const BinsSpec& of_bins = {}) const {
        bins::BinsConfig config = small_bins();
        config.encoder.hidden_dropout_prob = config.head_dropout = 0.1;
        config.motif_filters = 12;
        bins::BinsNetwork network(config, 2);
        bins::initialise(*network, 7);
        return {base_bins(network, {}), *bins, small_bins_info(config), spec, of_bins};
    }
};

ClassifierSpec spec_of(std::int64_t batch_size) {
    return {.batch_size = batch_size, .both_strands = true, .seed = 3};
}

std::vector<at::Tensor> gradients(BinsTask& task) {
    std::vector<at::Tensor> all;
    for (const at::Tensor& parameter : task.module().parameters())
        if (parameter.grad().defined()) all.push_back(parameter.grad().clone());
    return all;
}

}  // namespace

DOCTEST_TEST_CASE("bins task: the first filters begin as motifs of the bins of train") {
    const Scene scene(3000);
    const auto filters = [&](std::int64_t motifs) {
        BinsTask task = scene.task(spec_of(16), {.motifs = motifs});
        const auto parameters = task.module().named_parameters();
        DOCTEST_CHECK(at::equal(parameters["network.stem.0.convolution.weight"],
                                parameters["average.stem.0.convolution.weight"]));
        return parameters["network.stem.0.convolution.weight"].detach().clone();  // (12, 4, 7)
    };
    const at::Tensor random = filters(0), planted = filters(1);
    BinsTask task = scene.task(spec_of(16), {.motifs = 1});
    const auto parameters = task.module().named_parameters();
    DOCTEST_CHECK(at::equal(parameters["network.head.motifs.weight"].ne(0),
                            at::tensor({1, 0}).eq(1).unsqueeze(1) * at::arange(12).eq(0)));
    DOCTEST_CHECK(
        at::equal(parameters["average.head.motifs.weight"], parameters["network.head.motifs.weight"]));
    DOCTEST_CHECK(at::equal(planted.slice(0, 1), random.slice(0, 1)));
    // The middle of GATTACA, which is what label 0 means, on either strand.
    const at::Tensor best = planted[0].argmax(0);
    std::string letters;
    for (std::int64_t i = 0; i < 7; ++i)
        letters += "ACGT"[best[i].item<std::int64_t>()];
    DOCTEST_CHECK_MESSAGE(
        (letters.find("ATTAC") != std::string::npos || letters.find("GTAAT") != std::string::npos), letters);
}

DOCTEST_TEST_CASE("bins task: the loss begins at what base rates give, and is a mean over bins and labels") {
    const Scene scene;
    BinsTask task = scene.task(spec_of(16));
    const double loss = task.accumulate(1).loss.item<double>();
    double entropy = 0;
    for (const std::int64_t ones : task.training().positives()) {
        const double p = (static_cast<double>(ones) + 0.5) / 56;
        entropy -= (p * std::log(p) + (1 - p) * std::log(1 - p)) / 2;
    }
    DOCTEST_CHECK(loss == doctest::Approx(entropy).epsilon(0.05));
}

DOCTEST_TEST_CASE("bins task: a batch in parts has the gradients of a batch at once") {
    const Scene scene;
    BinsTask whole = scene.task(spec_of(6));
    ClassifierSpec parts = spec_of(6);
    parts.batch_tokens = 2 * 16;  // two windows of 16 positions
    BinsTask cut = scene.task(parts);
    const double a = whole.accumulate(4).loss.item<double>(), b = cut.accumulate(4).loss.item<double>();
    DOCTEST_CHECK(a == doctest::Approx(b).epsilon(1e-6));
    const auto one = gradients(whole), two = gradients(cut);
    DOCTEST_REQUIRE(one.size() == two.size());
    for (std::size_t i = 0; i < one.size(); ++i)
        DOCTEST_CHECK(difference(one[i], two[i]) < 1e-6);
}

DOCTEST_TEST_CASE("bins task: the average of the weights follows them, and is the model") {
    const Scene scene;
    BinsTask task = scene.task(spec_of(4), {.averaging = 0.9});
    auto parameters = task.module().named_parameters();
    at::Tensor weight = parameters["network.head.output.weight"];
    const at::Tensor average = parameters["average.head.output.weight"];
    at::Tensor wanted = weight.detach().clone();
    for (std::int64_t step = 1; step <= 3; ++step) {
        task.accumulate(step);
        const at::NoGradGuard no_gradients;
        weight.add_(static_cast<double>(step));  // as an optimizer would
        const double decay =
            std::min(0.9, (1.0 + static_cast<double>(step)) / (10.0 + static_cast<double>(step)));
        wanted = decay * wanted + (1 - decay) * weight;
    }
    const TempDir folder;
    task.write_model(folder.path());
    DOCTEST_CHECK(difference(average, wanted) < 1e-6);
    DOCTEST_CHECK(
        at::equal(model::read_safetensors(folder / "model.safetensors").at("head.output.weight"), average));
    task.write_model(folder.path());  // does not follow once more
    DOCTEST_CHECK(difference(average, wanted) < 1e-6);
}

DOCTEST_TEST_CASE("bins task: an interrupted run equals an uninterrupted one bit for bit") {
    const Scene scene;
    training::LoopSpec loop;
    loop.learning_rate = {
        .peak = 3e-3, .warmup_steps = 2, .total_steps = 12, .decay = training::Decay::cosine};
    loop.evaluate_every = 5;
    loop.run.checkpoint_every = 4;
    loop.selection = training::Selection{.metric = "eval_auroc", .higher_is_better = true};
    BinsTask whole = scene.task(spec_of(4));
    training::run_training(whole, loop, scene.folder / "whole");
    BinsTask begun = scene.task(spec_of(4));
    loop.run.max_hours = 1e-9;
    DOCTEST_CHECK_THROWS_AS(training::run_training(begun, loop, scene.folder / "cut"), Stopped);
    loop.run.max_hours = 0;
    BinsTask other = scene.task(spec_of(4));
    training::run_training(other, loop, scene.folder / "cut");
    for (const char* file : {"model/model.safetensors", "checkpoints/step-00000012/model.safetensors",
                             "checkpoints/step-00000012/training_state/weights.safetensors"}) {
        DOCTEST_CHECK(read_file(scene.folder / "cut" / file) == read_file(scene.folder / "whole" / file));
    }
}

DOCTEST_TEST_CASE("bins task: learns a motif") {
    const Scene scene(600);
    BinsTask task = scene.task(spec_of(8), {.averaging = 0.9});
    training::LoopSpec loop;
    loop.learning_rate = {
        .peak = 1e-2, .warmup_steps = 20, .total_steps = 250, .decay = training::Decay::cosine};
    loop.evaluate_every = 250;
    training::run_training(task, loop, scene.folder / "run");
    const Json metrics = task.evaluate();
    DOCTEST_CHECK(metrics["eval_auroc_labels"] == 2);
    DOCTEST_CHECK(metrics["eval_auroc"].get<double>() > 0.7);  // of two labels one cannot be learnt
    DOCTEST_CHECK(metrics["eval_auprc"].get<double>() > 0.6);
}

DOCTEST_TEST_CASE("bins task: what cannot be trained on is refused") {
    const Scene scene;
    ClassifierSpec spec = spec_of(1);
    spec.positive_weight.reset();
    DOCTEST_CHECK_NOTHROW(scene.task(spec));
    write_bin_examples(scene.folder / "n", 25, 1);  // train: bins 0 to 14
    const auto empty = scene.folder / "n";
    change_example(empty / "bins.bed", "c\t0\t500\ttest\n");
    const examples::LabelledBins none = examples::LabelledBins::load(empty);
    DOCTEST_CHECK(message_of<InputError>([&] {
                      BinsTask(small_base_bins(1), none, small_bins_info(), spec);
                  }).find("holds no bin of train that is not N") != std::string::npos);
}
