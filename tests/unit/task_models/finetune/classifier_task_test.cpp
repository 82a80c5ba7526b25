// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/finetune/classifier_task.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"
#include "unit/task_models/tiny_task.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/task_models/windows/batched_logits.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

using namespace bigbird;
using namespace bigbird::testing;
using task_models::ClassifierSpec;
using task_models::ClassifierTask;
using task_models::Sampling;

namespace {

class Fixture {
public:
    explicit Fixture(std::int64_t rows = 200) {
        write_motif_examples(folder_ / "examples", rows, 11);
        examples_ = std::make_unique<examples::ExampleSet>(examples::ExampleSet::load(folder_ / "examples"));
    }
    ClassifierTask task(const ClassifierSpec& spec, double dropout = 0) {
        model::BigBirdConfig config = tiny_config(2);
        config.hidden_dropout_prob = dropout;
        return ClassifierTask(tiny_windows(config, 1), *examples_, spec);
    }
    const examples::ExampleSet& examples() const { return *examples_; }
    std::filesystem::path operator/(const std::string& name) const { return folder_ / name; }

private:
    TempDir folder_;
    std::unique_ptr<examples::ExampleSet> examples_;
};

std::map<std::string, at::Tensor> gradients(ClassifierTask& task, std::int64_t step) {
    task.module().zero_grad();
    task.accumulate(step);
    std::map<std::string, at::Tensor> found;
    for (const auto& item : task.module().named_parameters()) {
        if (item.value().grad().defined()) found[item.key()] = item.value().grad().clone();
    }
    return found;
}

double largest_difference(const std::map<std::string, at::Tensor>& a,
                          const std::map<std::string, at::Tensor>& b) {
    DOCTEST_REQUIRE(a.size() == b.size());
    double largest = 0;
    for (const auto& [name, tensor] : a) {
        largest = std::max(largest, (tensor - b.at(name)).abs().max().item<double>());
    }
    return largest;
}

}  // namespace

DOCTEST_TEST_CASE("scoring/classifier_task: an epoch holds every window once, in an order of its own") {
    auto first = task_models::epoch_order(1000, 3, 0), again = task_models::epoch_order(1000, 3, 0);
    const auto second = task_models::epoch_order(1000, 3, 1),
               other_seed = task_models::epoch_order(1000, 4, 0);
    DOCTEST_CHECK(first == again);
    DOCTEST_CHECK(first != second);
    DOCTEST_CHECK(first != other_seed);
    std::sort(first.begin(), first.end());
    for (std::int64_t i = 0; i < 1000; ++i) {
        DOCTEST_REQUIRE(first[static_cast<std::size_t>(i)] == i);
    }
}

DOCTEST_TEST_CASE("scoring/classifier_task: steps go through epochs without a gap, in any order of asking") {
    Fixture fixture;
    ClassifierTask task = fixture.task({.batch_size = 30, .seed = 5});
    DOCTEST_REQUIRE(task.training().size() == 100);
    std::vector<std::int64_t> seen;
    for (std::int64_t step = 1; step <= 10; ++step) {
        for (const auto& sample : task.samples_of(step)) {
            seen.push_back(sample.index);
        }
    }
    for (std::size_t epoch = 0; epoch < 3; ++epoch) {
        const auto begin = seen.begin() + static_cast<std::ptrdiff_t>(epoch * 100);
        DOCTEST_CHECK(std::set<std::int64_t>(begin, begin + 100).size() == 100);
    }
    const auto fourth = task.samples_of(4);
    ClassifierTask fresh = fixture.task({.batch_size = 30, .seed = 5});
    DOCTEST_CHECK((fresh.samples_of(4) == fourth));
}

DOCTEST_TEST_CASE(
    "scoring/classifier_task: about half of the windows come reversed, fixed by seed and epoch") {
    Fixture fixture;
    ClassifierTask task = fixture.task({.batch_size = 100, .both_strands = true, .seed = 5});
    const auto epoch = task.samples_of(1);
    const auto reversed =
        std::count_if(epoch.begin(), epoch.end(), [](const auto& sample) { return sample.reverse; });
    DOCTEST_CHECK(reversed > 25);
    DOCTEST_CHECK(reversed < 75);
    ClassifierTask again = fixture.task({.batch_size = 100, .both_strands = true, .seed = 5});
    DOCTEST_CHECK((again.samples_of(1) == epoch));
}

DOCTEST_TEST_CASE("scoring/classifier_task: neither loss nor gradients depend on the micro-batches") {
    Fixture fixture;
    for (const double dropout : {0.0, 0.1}) {
        ClassifierTask whole = fixture.task({.batch_size = 24, .batch_tokens = 1 << 20}, dropout);
        ClassifierTask single = fixture.task({.batch_size = 24, .batch_tokens = 1}, dropout);
        DOCTEST_CHECK(whole.accumulate(2).loss.item<double>() ==
                      doctest::Approx(single.accumulate(2).loss.item<double>()).epsilon(1e-5));
        DOCTEST_CHECK(largest_difference(gradients(whole, 2), gradients(single, 2)) < 1e-5);
    }
}

DOCTEST_TEST_CASE("scoring/classifier_task: the loss is weighted binary cross entropy, averaged") {
    Fixture fixture;
    ClassifierTask task = fixture.task({.batch_size = 100, .positive_weight = 8});
    const double loss = task.accumulate(1).loss.item<double>();
    double expected = 0;
    const auto network = tiny_windows(tiny_config(2), 1);
    for (std::int64_t i = 0; i < 100; ++i) {
        const std::vector<task_models::EncodedWindow> one{task.training().window(i)};
        const at::Tensor logits = task_models::batched_logits(*network, one, 1 << 20)[0];
        const auto labels = fixture.examples().labels(task.training().row(i));
        for (std::int64_t label = 0; label < 2; ++label) {
            const double p = 1 / (1 + std::exp(-logits[label].item<double>()));
            expected -= labels[static_cast<std::size_t>(label)] == 1 ? 8 * std::log(p) : std::log(1 - p);
        }
    }
    DOCTEST_CHECK(loss == doctest::Approx(expected / 200).epsilon(1e-4));
}

DOCTEST_TEST_CASE("scoring/classifier_task: balanced weights are zeros by ones") {
    Fixture fixture;
    const auto& examples = fixture.examples();
    const auto weights = task_models::balanced_weights(examples);
    DOCTEST_REQUIRE(weights.size() == 2);
    for (std::size_t label = 0; label < 2; ++label) {
        const auto ones = static_cast<double>(examples.positives(label, examples::Split::train));
        DOCTEST_CHECK(weights[label] == doctest::Approx((100 - ones) / ones));
    }
    ClassifierTask balanced = fixture.task({.batch_size = 100, .positive_weight = std::nullopt});
    ClassifierTask even = fixture.task({.batch_size = 100, .positive_weight = 1});
    DOCTEST_CHECK(balanced.accumulate(1).loss.item<double>() != even.accumulate(1).loss.item<double>());
}

DOCTEST_TEST_CASE("scoring/classifier_task: balanced sampling takes both kinds in turn, all of each") {
    Fixture fixture;
    ClassifierTask task = fixture.task({.batch_size = 40, .sampling = Sampling::balanced, .seed = 5});
    std::map<bool, std::map<std::int64_t, int>> seen;
    for (std::int64_t step = 1; step <= 20; ++step) {
        int with = 0;
        for (const auto& sample : task.samples_of(step)) {
            const auto labels = fixture.examples().labels(task.training().row(sample.index));
            const bool any = labels[0] + labels[1] > 0;
            with += any ? 1 : 0;
            ++seen[any][sample.index];
        }
        DOCTEST_CHECK(with == 20);
    }
    DOCTEST_CHECK(seen[true].size() + seen[false].size() == 100);
    for (const auto& [any, counts] : seen) {
        const auto [least, most] = std::minmax_element(
            counts.begin(), counts.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
        DOCTEST_CHECK(most->second - least->second <= 1);
    }
    ClassifierTask again = fixture.task({.batch_size = 40, .sampling = Sampling::balanced, .seed = 5});
    DOCTEST_CHECK((again.samples_of(7) == task.samples_of(7)));
}

DOCTEST_TEST_CASE("scoring/classifier_task: the output bias starts at the best constant of what is drawn") {
    Fixture fixture;
    const auto& examples = fixture.examples();
    for (const Sampling sampling : {Sampling::uniform, Sampling::balanced}) {
        const auto network = tiny_windows(tiny_config(2), 1);
        const ClassifierSpec spec{.batch_size = 100, .positive_weight = 8, .sampling = sampling, .seed = 5};
        ClassifierTask task(network, examples, spec);
        task.start_at_base_rates();
        std::vector<double> ones(2), windows(2);
        for (std::int64_t step = 1; step <= 50; ++step) {
            for (const auto& sample : task.samples_of(step)) {
                const auto labels = examples.labels(task.training().row(sample.index));
                for (std::size_t label = 0; label < 2; ++label) {
                    ones[label] += labels[label];
                    ++windows[label];
                }
            }
        }
        for (std::size_t label = 0; label < 2; ++label) {
            // d/db of 8 p softplus(-b) + (1 - p) softplus(b) is 0 there
            const double p = ones[label] / windows[label];
            const double bias = network->output_bias()[static_cast<std::int64_t>(label)].item<double>();
            DOCTEST_CHECK(bias == doctest::Approx(std::log(8 * p / (1 - p))).epsilon(0.02));
        }
    }
}

DOCTEST_TEST_CASE("scoring/classifier_task: evaluation on the rows of validation") {
    Fixture fixture;
    ClassifierTask task = fixture.task({.batch_size = 10});
    const Json metrics = task.evaluate();
    DOCTEST_CHECK(metrics.at("eval_auroc_labels") == 2);
    DOCTEST_CHECK(metrics.at("eval_auroc").get<double>() > 0.2);
    DOCTEST_CHECK(metrics.at("eval_auroc").get<double>() < 0.8);
    DOCTEST_CHECK(metrics.at("eval_loss").get<double>() > 0.3);
}

DOCTEST_TEST_CASE(
    "scoring/classifier_task: a model folder that load_task_model would take but for its task") {
    Fixture fixture;
    ClassifierTask task = fixture.task({.batch_size = 10});
    std::filesystem::create_directory(fixture / "model");
    task.write_model(fixture / "model");
    for (const char* file : {"config.json", "model.safetensors", "tokenizer.model", "labels.tsv"}) {
        DOCTEST_CHECK(std::filesystem::exists(fixture / "model" / file));
    }
    DOCTEST_CHECK(read_file(fixture / "model/labels.tsv") == fixture.examples().label_table().to_text());
}
