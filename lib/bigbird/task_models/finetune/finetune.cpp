// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/finetune/finetune.hpp"

#include "bigbird/baselines/names/architecture_names.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/checksum.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/model/device/device.hpp"
#include "bigbird/model/model_directory.hpp"
#include "bigbird/model/weights.hpp"
#include "bigbird/task_models/baseline_windows.hpp"
#include "bigbird/task_models/finetune/classifier_task.hpp"
#include "bigbird/task_models/finetune/finetune_bins.hpp"
#include "bigbird/task_models/finetune/finetune_loop.hpp"
#include "bigbird/task_models/finetune/starting_model.hpp"
#include "bigbird/task_models/finetune/task_card.hpp"
#include "bigbird/task_models/finetune/train_linear.hpp"
#include "bigbird/training/find_model.hpp"
#include "bigbird/training/ranks/rank_device.hpp"
#include "bigbird/training/run_at_once.hpp"

#include <functional>
#include <optional>

namespace bigbird::task_models {
namespace fs = std::filesystem;

namespace {

examples::ExampleSet load_examples(const FinetuneSpec& spec) {
    examples::ExampleSet examples = examples::ExampleSet::load(spec.examples);
    if (examples.task() != spec.task) {
        throw InputError("holds " + std::string(to_string(examples.task())) + " examples; use finetune-" +
                             std::string(to_string(examples.task())),
                         spec.examples);
    }
    return examples;
}

rows::WindowBounds window_of(const FinetuneSpec& spec, const examples::ExampleSet& examples) {
    rows::WindowBounds window = examples.bounds(), published;
    const bool own =
        !spec.is_bigbird() && baselines::published_window(spec.architecture, published.begin, published.end);
    if (spec.window) {
        window = *spec.window;
    } else if (own) {
        window = published;
    }
    if (window.begin < examples.bounds().begin || window.end > examples.bounds().end) {
        throw ConfigError("--window " + to_string(window) +
                          (spec.window ? std::string() : " of " + spec.architecture) +
                          " is not inside the examples' windows, " + to_string(examples.bounds()));
    }
    return window;
}

/// Positives and negatives of at least one label among the rows of validation.
bool has_auroc(const examples::ExampleSet& examples) {
    std::vector<std::uint8_t> row(examples.label_table().size()), some = row, all(row.size(), 1);
    for (const std::int64_t index : examples.rows(examples::Split::validation)) {
        examples.copy_labels(index, row);
        for (std::size_t label = 0; label < row.size(); ++label) {
            some[label] |= row[label];
            all[label] &= row[label];
        }
    }
    return some != all;
}

/// What changes a linear baseline.
Json linear_options(const FinetuneSpec& spec) {
    Json options = {{"--kmer-length", spec.linear.word},
                    {"--informative-positions", spec.linear.informative}};
    if (spec.architecture == "gkm-svm") {
        options["--cost"] = spec.linear.cost;
        options["--most-windows"] = spec.linear.most_windows;
        options["--positive-weight"] = positive_weight_json(spec);
        options["--seed"] = spec.seed;
    } else {
        options["--penalty"] = spec.linear.penalty;
    }
    return options;
}

/// What changes the result, by the options' names: what a run records and asks for again on resuming.
Json fixed_options(const FinetuneSpec& spec, const rows::WindowBounds& window, const fs::path& pretrained,
                   const training::LoopSpec& loop) {
    Json options{{"--examples", examples_checksum(spec)},
                 {"--architecture", spec.architecture},
                 {"--window", to_string(window)}};
    if (!spec.calibrates) options["--calibration"] = "none";
    if (spec.is_linear()) {
        options.update(linear_options(spec));
        return options;
    }
    options.update(Json{{"--steps", loop.learning_rate.total_steps},
                        {"--batch-size", spec.batch_size},
                        {"--learning-rate", loop.learning_rate.peak},
                        {"--warmup-steps", loop.learning_rate.warmup_steps},
                        {"--decay", to_string(loop.learning_rate.decay)},
                        {"--weight-decay", loop.optimizer.weight_decay},
                        {"--clip-norm", loop.optimizer.clip_norm},
                        {"--positive-weight", positive_weight_json(spec)},
                        {"--sampling", word_of(samplings, spec.sampling)},
                        {"--strand-augmentation", strand_augmentation(spec)},
                        {"--evaluate-every", loop.evaluate_every},
                        {"--patience", spec.patience},
                        {"--seed", spec.seed}});
    if (!loop.optimizer.has_usual_betas()) {
        options["--betas"] = {loop.optimizer.beta1, loop.optimizer.beta2};
    }
    if (loop.optimizer.epsilon != FinetuneSpec{}.optimizer.epsilon) {
        options["--epsilon"] = loop.optimizer.epsilon;
    }
    if (spec.is_bigbird()) {
        options.update(starting_options(spec, pretrained));
        options["--pooling"] = spec.pooling;
        options["--dtype"] = spec.dtype;
    }
    return options;
}

training::LoopSpec loop_spec(const FinetuneSpec& spec, const examples::ExampleSet& examples,
                             const rows::WindowBounds& window, const fs::path& pretrained, bool speaks) {
    const auto windows = static_cast<std::int64_t>(examples.rows(examples::Split::train).size());
    std::optional<std::string> metric;
    if (!examples.rows(examples::Split::validation).empty()) {
        metric = has_auroc(examples) ? "eval_auroc" : "eval_loss";
    } else if (speaks) {
        log_info("the examples have no rows for validation: the last step's model is kept");
    }
    training::LoopSpec loop = finetune_loop(spec, spec.rate_over(windows, spec.batch_size), metric);
    loop.fixed_options = fixed_options(spec, window, pretrained, loop);
    return loop;
}

TaskInfo task_info(const FinetuneSpec& spec, const examples::ExampleSet& examples,
                   const rows::WindowBounds& window, const training::LoopSpec& loop) {
    TaskInfo info = task_info_of(examples);
    info.architecture = spec.architecture;
    info.window = window;
    info.pooling = parse_pooling(spec.pooling);
    info.training = loop.fixed_options;
    return info;
}

std::shared_ptr<WindowNetwork> pretrained_network(const FinetuneSpec& spec, const TaskInfo& info,
                                                  std::int64_t labels, const fs::path& pretrained,
                                                  const at::Device& device) {
    model::BigBirdConfig config = classifier_config(spec, pretrained, labels);
    config.extra["task_model"] = to_json(info);
    config.validate();
    return bigbird_windows(starting_classifier(spec, config, pretrained, device),
                           model::read_tokenizer(pretrained, config),
                           {.pooling = info.pooling,
                            .window = info.window,
                            .computing = parse_computing(spec.dtype, spec.attention, device)},
                           device);
}

void say_what_is_trained(const ClassifierTask& task, const FinetuneSpec& spec, const training::LoopSpec& loop,
                         std::size_t labels) {
    const EncodedExamples& windows = task.training();
    const std::int64_t steps = loop.learning_rate.total_steps;
    log_info("{} windows to learn from, {} for validation, {} label{}; {} steps of {} ({:.1f} epochs)",
             windows.size(), task.validation().size(), labels, labels == 1 ? "" : "s", steps, spec.batch_size,
             static_cast<double>(steps * spec.batch_size) / static_cast<double>(windows.size()));
    if (windows.left_out() > 0) log_info("{} windows that are all N were left out", windows.left_out());
    if (windows.truncated() > 0) {
        log_warning(
            "{} of {} windows have more tokens than the model has positions: only their middle is used",
            windows.truncated(), windows.size());
    }
}

/// The card's text, once the model is there. `examples` must outlive it.
std::function<std::string(const training::TrainedModel&)> card_writer(const examples::ExampleSet& examples,
                                                                      const TaskInfo& info) {
    return [&examples, info](const training::TrainedModel& model) {
        CardFacts facts = facts_of(examples);
        facts.architecture = info.architecture;
        facts.reads = "a window of " + with_commas(info.window.size()) + " bases";
        facts.options = info.training;
        return model::to_text(task_card(facts, model));
    };
}

training::LoopResult solve_linear(const FinetuneSpec& spec, TaskInfo info,
                                  const examples::ExampleSet& examples, const training::LoopSpec& loop) {
    return training::run_at_once(loop, spec.output, [&]() -> training::Solution {
        const LinearTraining trained = train_linear(info, examples, spec.linear, spec.positive_weight,
                                                    spec.seed, resolve_threads(spec.threads));
        return {trained.metrics, [trained, &spec, &examples](const fs::path& directory) {
                    write_task_model(*trained.network, examples.label_table(), directory);
                    if (spec.calibrates && trained.calibration) {
                        write_calibration(*trained.calibration, directory);
                    }
                }};
    });
}

/// finetune() of BigBird and of the baselines.
training::LoopResult finetune_windows(const FinetuneSpec& spec, const training::RankSpec& place) {
    if (place.size > 1 && spec.is_linear()) {
        throw ConfigError("--processes: " + spec.architecture + " is solved by one process");
    }
    const examples::ExampleSet examples = load_examples(spec);
    const rows::WindowBounds window = window_of(spec, examples);
    const fs::path pretrained = spec.is_bigbird() ? training::find_model(spec.pretrained) : fs::path();
    training::LoopSpec loop = loop_spec(spec, examples, window, pretrained, place.is_first());
    if (const auto finished = training::finished_run(spec.output, loop)) return *finished;
    const TaskInfo info = task_info(spec, examples, window, loop);
    loop.card = card_writer(examples, info);
    const int threads = place.share_of(resolve_threads(spec.threads));
    model::set_compute_threads(threads);
    if (spec.is_linear()) return solve_linear(spec, info, examples, loop);
    const at::Device device = model::open_device(training::device_of(place, spec.device));
    const auto labels = static_cast<std::int64_t>(examples.label_table().size());
    loop.ranks = std::make_shared<training::Ranks>(place, device);
    ClassifierSpec classifier = spec;
    classifier.window = window;
    ClassifierTask task(spec.is_bigbird() ? pretrained_network(spec, info, labels, pretrained, device)
                                          : new_base_network(info, labels, spec.seed, device),
                        examples, classifier, threads, loop.ranks);
    // Only where the head sees tokens as they come. [CLS] is nearly the same for all windows behind little
    // pretraining, and so is what a new network gives: at base rates the gradients of labels cancel there,
    // and nothing is learnt for a hundred steps and more (docs/development/measurements.md).
    if (spec.is_bigbird() && info.pooling != Pooling::cls) {
        task.start_at_base_rates();
    }
    if (place.is_first()) say_what_is_trained(task, spec, loop, examples.label_table().size());
    return training::run_training(task, loop, spec.output);
}

}  // namespace

training::LoopResult finetune(const FinetuneSpec& spec, const training::RankSpec& place) {
    spec.validate();
    return spec.is_bins() ? finetune_bins(spec, place) : finetune_windows(spec, place);
}

}  // namespace bigbird::task_models
