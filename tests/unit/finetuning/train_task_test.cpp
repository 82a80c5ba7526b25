// SPDX-License-Identifier: Apache-2.0
// One task, trained on each of the three kinds of data.
#include "bigbird/finetuning/train_task.hpp"

#include "support/temp_dir.hpp"
#include "support/tensors.hpp"
#include "support/testing.hpp"
#include "unit/tasks/bin_examples.hpp"
#include "unit/tasks/labelled_genome.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/finetuning/bin_data.hpp"
#include "bigbird/finetuning/example_data.hpp"

#include <cmath>
#include <functional>
#include <map>

using namespace bigbird;
using namespace bigbird::testing;
using namespace bigbird::tasks;

namespace {

using Task = std::unique_ptr<TrainTask>;

/// Labelled windows, which BigBird reads.
struct Windows {
    TempDir folder;
    examples::ExampleSet set;
    explicit Windows(std::int64_t count = 200) : set(write_motif_examples(folder / "e", count, 11)) {}
    Task task(const ClassifierSpec& spec, double dropout = 0) const {
        model::BigBirdConfig config = tiny_config(2);
        config.hidden_dropout_prob = dropout;
        const auto network = tiny_windows(config, 1);
        return std::make_unique<TrainTask>(network, std::make_unique<ExampleData>(network, set, spec, false),
                                           task_info_of(set), spec);
    }
};

/// Bins, which bigbird-bins reads.
struct Bins {
    TempDir folder;
    examples::LabelledBins labelled;
    explicit Bins(std::int64_t count = 100) : labelled(write_bin_examples(folder / "e", count, 1)) {}
    Task task(const ClassifierSpec& spec, const BinsSpec& of_bins = {}) const {
        bins::BinsConfig config = small_bins();
        config.encoder.hidden_dropout_prob = config.head_dropout = 0.1;
        config.motif_filters = 12;
        bins::BinsNetwork module(config, 2);
        bins::initialise(*module, 7);
        const auto network = base_bins(module, {});
        return std::make_unique<TrainTask>(network,
                                           std::make_unique<BinData>(network, labelled, spec, of_bins),
                                           small_bins_info(config), spec, of_bins.averaging);
    }
};

/// Bases with labels, which BigBird reads.
struct Bases {
    LabelledGenome genome;
    LabelSplits splits{genome.windows(0, 6000), genome.windows(6000, 8000)};
    Task task(const ClassifierSpec& spec) const {
        model::BigBirdConfig config = tiny_labeller_config();
        config.hidden_dropout_prob = 0.1;
        model::SequenceClassifier module(config);
        model::initialise(*module, config, 7);
        const auto network = bigbird_tokens(std::move(module), small_tokenizer(), {});
        const TaskInfo info = bases_info(200, 25);
        return std::make_unique<TrainTask>(
            network, std::make_unique<BaseData>(network, splits, info, tiny_labels(), spec), info, spec);
    }
};

/// With dropout, on both strands.
ClassifierSpec spec_of(std::int64_t batch_size, std::int64_t batch_tokens = 0) {
    return {.batch_size = batch_size, .both_strands = true, .batch_tokens = batch_tokens, .seed = 3};
}

/// Calls with each kind of data, its name and a folder.
void for_all(const std::function<void(const std::string&, const std::filesystem::path&,
                                      const std::function<Task(const ClassifierSpec&)>&)>& check) {
    const Windows windows;
    check("windows", windows.folder.path(), [&](const auto& spec) { return windows.task(spec, 0.1); });
    const Bins bins;
    check("bins", bins.folder.path(), [&](const auto& spec) { return bins.task(spec); });
    const Bases bases;
    check("bases", bases.genome.folder.path(), [&](const auto& spec) { return bases.task(spec); });
}

std::map<std::string, at::Tensor> gradients(TrainTask& task) {
    std::map<std::string, at::Tensor> all;
    for (const auto& item : task.module().named_parameters())
        if (item.value().grad().defined()) all[item.key()] = item.value().grad().clone();
    return all;
}

training::LoopSpec loop_of(std::int64_t steps, double rate, std::int64_t evaluate_every = 0) {
    training::LoopSpec loop;
    loop.learning_rate = {
        .peak = rate, .warmup_steps = 5, .total_steps = steps, .decay = training::Decay::cosine};
    loop.evaluate_every = evaluate_every;
    return loop;
}

}  // namespace

DOCTEST_TEST_CASE("train_task: a batch in parts has the loss and gradients of a batch at once") {
    for_all([](const std::string& name, const auto&, const auto& task) {
        DOCTEST_CAPTURE(name);
        const Task whole = task(spec_of(6, 1 << 20)), cut = task(spec_of(6, 2 * 16));
        const double a = whole->accumulate(4).loss.template item<double>(),
                     b = cut->accumulate(4).loss.template item<double>();
        DOCTEST_CHECK(a == doctest::Approx(b).epsilon(1e-5));
        const auto one = gradients(*whole), two = gradients(*cut);
        DOCTEST_REQUIRE(one.size() == two.size());
        DOCTEST_REQUIRE(one.size() > 10);
        for (const auto& [parameter, gradient] : one)
            DOCTEST_CHECK(difference(gradient, two.at(parameter)) < 1e-5);
    });
}

DOCTEST_TEST_CASE("train_task: an interrupted run equals an uninterrupted one bit for bit") {
    for_all([](const std::string& name, const std::filesystem::path& folder, const auto& task) {
        DOCTEST_CAPTURE(name);
        training::LoopSpec loop = loop_of(12, 3e-3, 5);
        loop.run.checkpoint_every = 4;
        loop.selection = training::Selection{.metric = "eval_auroc", .higher_is_better = true};
        training::run_training(*task(spec_of(4)), loop, folder / "whole");
        loop.run.max_hours = 1e-9;
        DOCTEST_CHECK_THROWS_AS(training::run_training(*task(spec_of(4)), loop, folder / "cut"), Stopped);
        loop.run.max_hours = 0;
        training::run_training(*task(spec_of(4)), loop, folder / "cut");
        std::vector<std::string> files{"model/model.safetensors",
                                       "checkpoints/step-00000012/model.safetensors"};
        if (name == "bins")
            files.emplace_back("checkpoints/step-00000012/training_state/weights.safetensors");
        for (const std::string& file : files)
            DOCTEST_CHECK(read_file(folder / "cut" / file) == read_file(folder / "whole" / file));
    });
}

DOCTEST_TEST_CASE("train_task: the loss begins at what base rates give, a mean over bins or bases") {
    const Bins bins;
    const BinWindows train(bins.labelled, {20, 8, 2}, examples::Split::train, 1);
    double entropy = 0;
    for (const std::int64_t ones : train.positives()) {
        const double p = (static_cast<double>(ones) + 0.5) / 56;
        entropy -= (p * std::log(p) + (1 - p) * std::log(1 - p)) / 2;
    }
    const training::StepStats stats = bins.task(spec_of(16))->accumulate(1);
    DOCTEST_CHECK(stats.tokens == 0);  // the network reads bases
    DOCTEST_CHECK(stats.loss.item<double>() == doctest::Approx(entropy).epsilon(0.05));
    const Bases bases;
    entropy = 0;
    for (const std::int64_t count : bases.splits.train.counts()) {
        const double rate = static_cast<double>(count) / static_cast<double>(bases.splits.train.bases());
        entropy -= rate * std::log(rate);
    }
    DOCTEST_CHECK(bases.task(spec_of(16))->accumulate(1).loss.item<double>() ==
                  doctest::Approx(entropy).epsilon(0.05));
}

DOCTEST_TEST_CASE("train_task: the loss of windows is weighted binary cross entropy, averaged") {
    const Windows windows;
    const ClassifierSpec spec{.batch_size = 100, .positive_weight = 8};
    const double loss = windows.task(spec)->accumulate(1).loss.item<double>();
    double expected = 0;
    const auto network = tiny_windows(tiny_config(2), 1);
    for (const std::int64_t row : windows.set.rows(examples::Split::train)) {
        const std::vector<EncodedWindow> one{network->encode(windows.set.sequence(row))};
        const at::Tensor logits = batched_logits(*network, one, 1 << 20)[0][0];
        const auto labels = windows.set.labels(row);
        for (std::int64_t label = 0; label < 2; ++label) {
            const double p = 1 / (1 + std::exp(-logits[label].item<double>()));
            expected -= labels[static_cast<std::size_t>(label)] == 1 ? 8 * std::log(p) : std::log(1 - p);
        }
    }
    DOCTEST_CHECK(loss == doctest::Approx(expected / 200).epsilon(1e-4));
}

DOCTEST_TEST_CASE("train_task: figures of validation, and the folder that is written") {
    const Windows windows(800);
    const Task task = windows.task({.batch_size = 10});
    const Json metrics = task->evaluate();
    DOCTEST_CHECK(metrics.at("eval_auroc_labels") == 2);
    DOCTEST_CHECK(metrics.at("eval_auroc").get<double>() > 0.2);
    DOCTEST_CHECK(metrics.at("eval_auroc").get<double>() < 0.8);
    DOCTEST_CHECK(metrics.at("eval_loss").get<double>() > 0.3);
    std::filesystem::create_directory(windows.folder / "model");
    task->write_model(windows.folder / "model");
    for (const char* file : {"config.json", "model.safetensors", "tokenizer.model", "calibration.json"})
        DOCTEST_CHECK(std::filesystem::exists(windows.folder / "model" / file));
    DOCTEST_CHECK(read_file(windows.folder / "model/labels.tsv") == windows.set.label_table().to_text());
}

DOCTEST_TEST_CASE("train_task: the first filters begin as motifs of the bins of train") {
    const Bins bins(3000);
    const auto parameters_with = [&](std::int64_t motifs) {
        return bins.task(spec_of(16), {.motifs = motifs})->module().named_parameters();
    };
    const auto without = parameters_with(0), parameters = parameters_with(1);
    for (const char* name : {"stem.0.convolution.weight", "head.motifs.weight"}) {
        DOCTEST_CHECK(at::equal(parameters[std::string("average.") + name],
                                parameters[std::string("network.") + name]));
    }
    const at::Tensor random = without["network.stem.0.convolution.weight"],  // (12, 4, 7)
        planted = parameters["network.stem.0.convolution.weight"];
    DOCTEST_CHECK(at::equal(parameters["network.head.motifs.weight"].ne(0),
                            at::tensor({1, 0}).eq(1).unsqueeze(1) * at::arange(12).eq(0)));
    DOCTEST_CHECK(at::equal(planted.slice(0, 1), random.slice(0, 1)));
    // The middle of GATTACA, which is what label 0 means, on either strand.
    const at::Tensor best = planted[0].argmax(0);
    std::string letters;
    for (std::int64_t i = 0; i < 7; ++i)
        letters += "ACGT"[best[i].item<std::int64_t>()];
    DOCTEST_CHECK_MESSAGE(
        (letters.find("ATTAC") != std::string::npos || letters.find("GTAAT") != std::string::npos), letters);
}

DOCTEST_TEST_CASE("train_task: the average of the weights follows them, and is the model") {
    const Bins bins;
    const Task held = bins.task(spec_of(4), {.averaging = 0.9});
    TrainTask& task = *held;
    auto parameters = task.module().named_parameters();
    at::Tensor weight = parameters["network.head.output.weight"];
    const at::Tensor average = parameters["average.head.output.weight"];
    at::Tensor wanted = weight.detach().clone();
    for (std::int64_t step = 1; step <= 3; ++step) {
        task.accumulate(step);
        const at::NoGradGuard no_gradients;
        weight.add_(static_cast<double>(step));  // as an optimizer would
        task.made(step);
        const double decay =
            std::min(0.9, (1.0 + static_cast<double>(step)) / (10.0 + static_cast<double>(step)));
        wanted = decay * wanted + (1 - decay) * weight;
    }
    const TempDir folder;
    task.write_model(folder.path());
    DOCTEST_CHECK(difference(average, wanted) < 1e-6);
    DOCTEST_CHECK(
        at::equal(model::read_safetensors(folder / "model.safetensors").at("head.output.weight"), average));
}

DOCTEST_TEST_CASE("train_task: learns a motif of bins, and which bases one covers, and not what is random") {
    const Bins bins(600);
    const Task of_bins = bins.task(spec_of(8), {.averaging = 0.9});
    training::LoopSpec loop = loop_of(250, 1e-2, 250);
    loop.learning_rate.warmup_steps = 20;
    training::run_training(*of_bins, loop, bins.folder / "run");
    const Json metrics = of_bins->evaluate();
    DOCTEST_CHECK(metrics["eval_auroc_labels"] == 2);
    DOCTEST_CHECK(metrics["eval_auroc"].get<double>() > 0.7);  // of two labels one cannot be learnt
    DOCTEST_CHECK(metrics["eval_auprc"].get<double>() > 0.6);
    const Bases bases;
    const Task of_bases = bases.task(spec_of(8));
    const double before = of_bases->evaluate()["eval_auroc"].get<double>();
    training::run_training(*of_bases, loop_of(150, 1e-2), bases.genome.folder / "run");
    const Json figures = of_bases->evaluate();
    DOCTEST_CHECK(figures["eval_labels"] == 2);
    DOCTEST_CHECK(before < 0.7);
    DOCTEST_CHECK(figures["eval_auroc"].get<double>() > 0.72);  // 0.95 and about 0.5
    DOCTEST_CHECK(figures["eval_loss"].get<double>() < 0.6);
}

DOCTEST_TEST_CASE("train_task: a model written right after an evaluation has a calibration") {
    const Bases bases;
    ClassifierSpec spec = spec_of(4);
    spec.positive_weight = std::nullopt;
    const Task task = bases.task(spec);
    const auto written = [&](TrainTask& some, const char* name) {
        const std::filesystem::path folder = bases.genome.folder / name;
        std::filesystem::create_directories(folder);
        some.write_model(folder);
        return folder / "calibration.json";
    };
    task->accumulate(1);
    DOCTEST_CHECK_FALSE(std::filesystem::exists(written(*task, "not evaluated")));
    const double loss = task->evaluate()["eval_loss"].get<double>();
    const Json json = read_json(written(*task, "evaluated"));
    DOCTEST_CHECK(json["biases"].size() == 3);
    DOCTEST_CHECK(json["bases_of_validation"] == bases.splits.validation.bases());
    DOCTEST_CHECK(json["cross_entropy_before"].get<double>() == doctest::Approx(loss).epsilon(1e-6));
    // Balanced weights begin at even odds of the labels, whose entropy is ln 3.
    DOCTEST_CHECK(loss > 1);
    DOCTEST_CHECK(json["cross_entropy_after"].get<double>() < 0.95);
    task->accumulate(2);
    task->made(2);
    DOCTEST_CHECK_FALSE(std::filesystem::exists(written(*task, "trained on")));
    spec.calibrates = false;
    const Task plain = bases.task(spec);
    plain->evaluate();
    DOCTEST_CHECK_FALSE(std::filesystem::exists(written(*plain, "plain")));
}
