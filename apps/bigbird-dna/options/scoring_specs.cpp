// SPDX-License-Identifier: Apache-2.0
#include "options/scoring_specs.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/log.hpp"

namespace bigbird::cli {

task_models::PredictSpec predict_spec(const PredictOptions& options, examples::Task task) {
    if (options.regions.empty() && options.examples.empty()) {
        throw ConfigError("--regions with --reference, or --examples, is needed");
    }
    task_models::PredictSpec spec;
    spec.task = task;
    spec.models = options.models;
    spec.regions = options.regions;
    spec.references = options.references;
    spec.anchor = rows::parse_anchor(options.anchor);
    spec.skip_invalid = options.skip_invalid;
    spec.examples = options.examples;
    if (options.split != "all") spec.split = examples::parse_split(options.split);
    if (options.tile == 0 && options.pool != "none") {
        throw ConfigError("--pool needs tiles: give --tile or --scan");
    }
    if (options.tile > 0 && spec.anchor == rows::Anchor::summit) {
        throw ConfigError("--anchor summit is of whole rows, --tile cuts them: leave one of them out");
    }
    spec.tile = options.tile;
    spec.pool = task_models::parse_pool(options.pool);
    spec.outputs.paths = options.outputs;
    spec.outputs.overwrite = options.force ? Overwrite::allow : Overwrite::refuse;
    spec.outputs.min_score = options.min_score;
    spec.track_labels = options.track_labels;
    spec.labels = options.labels;
    spec.strands = task_models::parse_strands(options.reverse_complement);
    spec.batch_tokens = options.batch_tokens;
    spec.device = options.device;
    spec.dtype = options.dtype;
    spec.attention = options.attention;
    spec.threads = options.threads;
    return spec;
}

void report(const task_models::PredictReport& report) {
    log_info("{} of {} rows scored in {:.1f} s", report.scored, report.rows, report.seconds);
    if (report.truncated > 0) {
        log_warning(
            "{} windows have more tokens than the model has positions: their middle was scored (status "
            "truncated)",
            report.truncated);
    }
}

}  // namespace bigbird::cli
