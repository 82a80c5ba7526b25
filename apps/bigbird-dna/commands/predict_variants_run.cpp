// SPDX-License-Identifier: Apache-2.0
#include "commands/predict_variants.hpp"

#include "bigbird/core/log.hpp"
#include "bigbird/task_models/predict/predict_variants.hpp"

namespace bigbird::cli {

int run_predict_variants(const PredictVariantsOptions& options) {
    task_models::VariantSpec spec;
    spec.models = options.models;
    spec.variants = options.variants;
    spec.references = options.references;
    spec.labels = options.labels;
    spec.quantities = task_models::parse_quantities(options.write);
    spec.window = options.window;
    if (!options.reverse_complement.empty())
        spec.strands = task_models::parse_strands(options.reverse_complement);
    spec.tss = options.tss;
    spec.strict = options.strict;
    spec.outputs.paths = options.outputs;
    spec.outputs.overwrite = options.force ? Overwrite::allow : Overwrite::refuse;
    spec.outputs.min_score = options.min_score;
    spec.outputs.tracks = false;
    spec.batch_tokens = options.batch_tokens;
    spec.device = options.device;
    spec.dtype = options.dtype;
    spec.attention = options.attention;
    spec.threads = options.threads;
    const task_models::VariantReport report = task_models::predict_variants(spec);
    log_info("{} of {} alleles scored in {:.1f} s", report.scored, report.rows, report.seconds);
    return 0;
}

}  // namespace bigbird::cli
