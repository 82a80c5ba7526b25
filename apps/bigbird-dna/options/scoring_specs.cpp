// SPDX-License-Identifier: Apache-2.0
#include "options/scoring_specs.hpp"

#include "options/loop_spec.hpp"
#include "options/ranks_option.hpp"
#include "support/launch.hpp"

#include "bigbird/core/log.hpp"

namespace bigbird::cli {

task_models::FinetuneSpec finetune_spec(const FinetuneOptions& options, examples::Task task) {
    task_models::FinetuneSpec spec;
    spec.task = task;
    spec.examples = options.examples;
    spec.architecture = options.architecture;
    if (!options.window.empty()) spec.window = rows::parse_window_bounds(options.window);
    spec.pretrained = options.model;
    spec.output = options.run.output;
    spec.steps = options.optimization.steps;
    spec.epochs = options.epochs;
    spec.batch_size = options.optimization.batch_size;
    spec.learning_rate = options.optimization.learning_rate;
    spec.warmup_steps = options.optimization.warmup_steps;
    spec.head = options.head;
    spec.pooling = task_models::parse_pooling(options.pooling);
    spec.dropout = options.dropout;
    if (options.positive_weight == "balanced") {
        spec.positive_weight.reset();
    } else {
        spec.positive_weight = std::stod(options.positive_weight);
    }
    spec.sampling = task_models::parse_sampling(options.sampling);
    spec.linear = {.word = options.word,
                   .informative = options.informative,
                   .penalty = options.penalty,
                   .cost = options.cost,
                   .most_windows = options.most_windows};
    spec.bins = {.config = options.bins.config,
                 .window_bins = options.bins.window_bins,
                 .margin_bins = options.bins.margin_bins,
                 .shift = options.bins.shift,
                 .averaging = options.bins.average_weights};
    spec.dtype = options.dtype;
    spec.attention = options.attention;
    spec.both_strands = options.strand_augmentation == "reverse-complement";
    spec.evaluate_every = options.evaluate_every;
    spec.patience = options.patience;
    spec.batch_tokens = options.batch_tokens;
    spec.seed = options.seed;
    spec.loop = loop_spec(options.run, options.optimization);
    spec.loop.free_options["--attention"] = options.attention;
    spec.place = place_of_this_process(options.processes);
    spec.device = device_of(spec.place, options.device);
    spec.threads = options.threads;
    return spec;
}

int run_finetune(const FinetuneOptions& options, examples::Task task) {
    if (launches_processes(options.processes)) return launch_processes(options.processes);
    report(task_models::finetune(finetune_spec(options, task)));
    return 0;
}

void report(const training::LoopResult& result) {
    if (result.finished_before) {
        log_info("{}: this run is finished already", result.model.string());
        return;
    }
    const std::string which = result.best_step
                                  ? "the best on validation, of step " + std::to_string(*result.best_step)
                                  : "of the last step";
    log_info("{}: the model, {}", result.model.string(), which);
}

}  // namespace bigbird::cli
