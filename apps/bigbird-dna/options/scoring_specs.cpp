// SPDX-License-Identifier: Apache-2.0
#include "options/scoring_specs.hpp"

#include "options/loop_spec.hpp"
#include "options/ranks_option.hpp"
#include "support/launch.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/log.hpp"

namespace bigbird::cli {

scoring::FinetuneSpec finetune_spec(const FinetuneOptions& options, tasks::Task task) {
    scoring::FinetuneSpec spec;
    spec.task = task;
    spec.examples = options.examples;
    spec.architecture = options.architecture;
    if (!options.window.empty()) spec.window = tasks::parse_window_bounds(options.window);
    spec.pretrained = options.model;
    spec.output = options.run.output;
    spec.steps = options.optimization.steps;
    spec.epochs = options.epochs;
    spec.batch_size = options.optimization.batch_size;
    spec.learning_rate = options.optimization.learning_rate;
    spec.warmup_steps = options.optimization.warmup_steps;
    spec.head = options.head;
    spec.pooling = scoring::parse_pooling(options.pooling);
    spec.dropout = options.dropout;
    if (options.positive_weight == "balanced") {
        spec.positive_weight.reset();
    } else {
        spec.positive_weight = std::stod(options.positive_weight);
    }
    spec.sampling = scoring::parse_sampling(options.sampling);
    spec.linear = {.word = options.word,
                   .informative = options.informative,
                   .penalty = options.penalty,
                   .cost = options.cost,
                   .most_windows = options.most_windows};
    spec.bins = {.config = options.bins.config,
                 .window_bins = options.bins.window_bins,
                 .margin_bins = options.bins.margin_bins,
                 .shift = options.bins.shift,
                 .averaging = options.bins.average_weights,
                 .motifs = options.bins.motifs};
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

int run_finetune(const FinetuneOptions& options, tasks::Task task) {
    if (launches_processes(options.processes)) return launch_processes(options.processes);
    report(scoring::finetune(finetune_spec(options, task)));
    return 0;
}

scoring::PredictSpec predict_spec(const PredictOptions& options, tasks::Task task) {
    if (options.regions.empty() && options.examples.empty()) {
        throw ConfigError("--regions with --reference, or --examples, is needed");
    }
    scoring::PredictSpec spec;
    spec.task = task;
    spec.models = options.models;
    spec.regions = options.regions;
    spec.references = options.references;
    spec.anchor = tasks::parse_anchor(options.anchor);
    spec.skip_invalid = options.skip_invalid;
    spec.examples = options.examples;
    if (options.split != "all") spec.split = tasks::parse_split(options.split);
    if (options.tile == 0 && options.pool != "none") {
        throw ConfigError("--pool needs tiles: give --tile or --scan");
    }
    if (options.tile > 0 && spec.anchor == tasks::Anchor::summit) {
        throw ConfigError("--anchor summit is of whole rows, --tile cuts them: leave one of them out");
    }
    spec.tile = options.tile;
    spec.pool = scoring::parse_pool(options.pool);
    spec.outputs.paths = options.outputs;
    spec.outputs.overwrite = options.force ? Overwrite::allow : Overwrite::refuse;
    spec.outputs.min_score = options.min_score;
    spec.track_labels = options.track_labels;
    spec.labels = options.labels;
    spec.strands = scoring::parse_strands(options.reverse_complement);
    spec.batch_tokens = options.batch_tokens;
    spec.device = options.device;
    spec.dtype = options.dtype;
    spec.attention = options.attention;
    spec.threads = options.threads;
    return spec;
}

void report(const scoring::PredictReport& report) {
    log_info("{} of {} rows scored in {:.1f} s", report.scored, report.rows, report.seconds);
    if (report.truncated > 0) {
        log_warning(
            "{} windows have more tokens than the model has positions: their middle was scored (status "
            "truncated)",
            report.truncated);
    }
}

void report(const train::LoopResult& result) {
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
