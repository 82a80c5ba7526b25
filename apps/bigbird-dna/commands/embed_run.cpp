// SPDX-License-Identifier: Apache-2.0
#include "commands/embed.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/task_models/predict/embed.hpp"

namespace bigbird::cli {

int run_embed(const EmbedOptions& options) {
    if (options.regions.empty() && options.sequences.empty()) {
        throw ConfigError("--regions with --reference, or --sequences, is needed");
    }
    task_models::EmbedSpec spec;
    spec.model = options.model;
    spec.regions = options.regions;
    spec.references = options.references;
    spec.window = options.window;
    spec.use_strand = options.strand;
    spec.skip_invalid = options.skip_invalid;
    spec.sequences = options.sequences;
    spec.pooling = task_models::parse_embed_pooling(options.pooling);
    spec.layer = options.layer;
    spec.outputs.paths = options.outputs;
    spec.outputs.overwrite = options.force ? Overwrite::allow : Overwrite::refuse;
    spec.outputs.tracks = false;
    spec.batch_tokens = options.batch_tokens;
    spec.device = options.device;
    spec.dtype = options.dtype;
    spec.attention = options.attention;
    spec.threads = options.threads;
    const task_models::EmbedReport report = task_models::embed(spec);
    log_info("{} of {} rows embedded in {:.1f} s", report.embedded, report.rows, report.seconds);
    if (report.truncated > 0) {
        log_warning(
            "{} rows have more tokens than the model has positions: their middle was embedded (status "
            "truncated)",
            report.truncated);
    }
    return 0;
}

}  // namespace bigbird::cli
