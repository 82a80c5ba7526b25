// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/error.hpp"
#include "bigbird/finetuning/example_data.hpp"
#include "bigbird/finetuning/run_plan.hpp"
#include "bigbird/finetuning/train_linear.hpp"
#include "bigbird/finetuning/train_probe.hpp"
#include "bigbird/model/model_directory.hpp"
#include "bigbird/tasks/bases_network.hpp"
#include "bigbird/training/checkpoint_store.hpp"

namespace bigbird::tasks {
namespace fs = std::filesystem;

namespace {

using Examples = std::shared_ptr<const examples::ExampleSet>;

rows::WindowBounds window_of(const FinetuneSpec& spec, const examples::ExampleSet& examples) {
    const Architecture& row = spec.row();
    const rows::WindowBounds window = spec.window                  ? *spec.window
                                      : row.has_published_window() ? row.published
                                                                   : examples.bounds();
    if (window.begin < examples.bounds().begin || window.end > examples.bounds().end) {
        throw ConfigError("--window " + to_string(window) +
                          (spec.window ? std::string() : " of " + spec.architecture) +
                          " is not inside the examples' windows, " + to_string(examples.bounds()));
    }
    return window;
}

Json fixed_options(const FinetuneSpec& spec, const rows::WindowBounds& window, const fs::path& pretrained,
                   const training::LoopSpec& loop) {
    Json options = run_options(spec, loop, pretrained);
    options.update(Json{{"--window", to_string(window)},
                        {"--sampling", "uniform"},
                        {"--pooling", spec.pooling},
                        {"--kmer-length", spec.linear.word},
                        {"--informative-positions", spec.linear.informative},
                        {"--cost", 1.0},
                        {"--most-windows", spec.linear.most_windows},
                        {"--penalty", 0.0}});
    std::string names = "--examples --architecture --window --calibration";
    if (spec.row().is_solved() && spec.row().reads_tokens()) {
        options["--probe"] = word_of(probe_kinds, spec.probe);
        return chosen_options(options, names + " --model --pooling --dtype --probe --seed");
    }
    if (spec.row().is_solved()) {
        names += " --kmer-length --informative-positions";
        names += spec.row().takes("--most-windows") ? " --cost --most-windows --positive-weight --seed"
                                                    : " --penalty";
        return chosen_options(options, names);
    }
    names +=
        " --steps --batch-size --learning-rate --warmup-steps --schedule --weight-decay --clip-norm"
        " --positive-weight --sampling --strand-augmentation --evaluate-every --patience --seed";
    if (!loop.optimizer.has_usual_betas()) names += " --betas";
    if (loop.optimizer.epsilon != FinetuneSpec{}.optimizer.epsilon) names += " --epsilon";
    if (spec.row().reads_tokens()) names += starting_options + std::string("--pooling --dtype");
    return chosen_options(options, names);
}

}  // namespace

std::shared_ptr<TaskNetwork> windows_network(const FinetuneSpec& spec, const TaskInfo& info,
                                             std::size_t labels, const fs::path& pretrained, const Job& job) {
    if (!spec.row().reads_tokens())
        return new_base_network(info, static_cast<std::int64_t>(labels), spec.seed, job.device);
    const model::BigBirdConfig config = classifier_config(spec, pretrained, labels);
    return bigbird_windows(starting_classifier(spec, config, pretrained, job.device),
                           model::read_tokenizer(pretrained, config), info.pooling, info.window,
                           job.computing);
}

RunPlan plan_windows(const FinetuneSpec& spec, bool speaks) {
    const Examples examples = load_examples(spec);
    const fs::path pretrained =
        spec.row().reads_tokens() ? training::find_model(spec.pretrained) : fs::path();
    if (examples->target() == examples::TargetKind::numbers) {
        throw ConfigError("--architecture " + spec.architecture +
                          " is for labels: for coverage there are bigbird-bins and kmer-ridge");
    }
    const rows::WindowBounds window = window_of(spec, *examples);
    RunPlan plan;
    plan.loop = finetune_loop(
        spec, spec.rate_over(std::ssize(examples->rows(examples::Split::train)), spec.batch_size),
        metric_of(*examples), speaks);
    plan.loop.fixed_options = fixed_options(spec, window, pretrained, plan.loop);
    TaskInfo& info = plan.info = task_info_of(*examples);
    info.architecture = spec.row().reads_tokens() ? bigbird_name : std::string_view(spec.architecture);
    info.window = window;
    info.pooling = parse_choice(pooling_choices, "--pooling", spec.pooling);
    info.training = plan.loop.fixed_options;
    plan.card = facts_of(*examples);
    plan.card.reads = "a window of " + with_commas(window.size()) + " bases";
    if (spec.row().is_solved() && spec.row().reads_tokens()) {
        plan.solve = [=, &spec, info = plan.info](int threads) {
            return solution_of(train_probe(spec, info, *examples, pretrained, threads), info, examples,
                               spec.calibrates);
        };
        return plan;
    }
    if (spec.row().is_solved()) {
        plan.solve = [=, &spec, info = plan.info](int threads) mutable {
            SolvedModel solved =
                train_linear(info, *examples, spec.linear, spec.positive_weight, spec.seed, threads);
            return solution_of(std::move(solved), info, examples, spec.calibrates);
        };
        return plan;
    }
    // The bias starts at the base rates only if the head does not read [CLS]. After little pretraining, [CLS]
    // is nearly the same for all windows, and so is a new network's output. At base rates, the gradients of
    // the labels then cancel, and nothing is learned for over a hundred steps
    // (docs/development/measurements.md).
    const bool at_base_rates = spec.row().reads_tokens() && info.pooling != Pooling::cls;
    plan.make = [=, &spec](const Job& job) -> NetworkAndData {
        auto network = windows_network(spec, info, examples->label_table().size(), pretrained, job);
        ClassifierSpec classifier = spec;
        classifier.window = window;
        return {network,
                std::make_unique<ExampleData>(network, *examples, classifier, at_base_rates, job.threads)};
    };
    return plan;
}

}  // namespace bigbird::tasks
