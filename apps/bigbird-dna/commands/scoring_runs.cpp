// SPDX-License-Identifier: Apache-2.0
// What bigbird-dna-tensors runs for predict-*, predict-variants and embed: the library, and a summary of it.
#include "commands/embed.hpp"
#include "commands/predict.hpp"
#include "commands/predict_variants.hpp"

#include "bigbird/core/log.hpp"
#include "bigbird/task_models/embed/embed.hpp"
#include "bigbird/task_models/predict/predict.hpp"
#include "bigbird/task_models/predict/predict_variants.hpp"

namespace bigbird::cli {

int run_predict(const task_models::PredictSpec& spec) {
    const task_models::PredictReport report = task_models::predict(spec);
    log_info("{} of {} rows scored in {:.1f} s", report.scored, report.rows, report.seconds);
    if (report.truncated > 0) {
        log_warning(
            "{} windows have more tokens than the model has positions: their middle was scored (status "
            "truncated)",
            report.truncated);
    }
    return 0;
}

int run_predict_variants(const task_models::VariantSpec& spec) {
    const task_models::VariantReport report = task_models::predict_variants(spec);
    log_info("{} of {} alleles scored in {:.1f} s", report.scored, report.rows, report.seconds);
    return 0;
}

int run_embed(const task_models::EmbedSpec& spec) {
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
