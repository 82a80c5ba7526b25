// SPDX-License-Identifier: Apache-2.0
#include "commands/evaluate_mlm.hpp"

#include "bigbird/core/log.hpp"
#include "bigbird/pretraining/mlm_evaluation.hpp"

#include <cstdio>

namespace bigbird::cli {

namespace {

void write_report(const Json& report, const OutputOptions& output) {
    if (output.output == "-") {
        std::fputs((report.dump(2) + "\n").c_str(), stdout);
    } else {
        write_json(output.output, report, output.overwrite());
    }
}

}  // namespace

int run_evaluate_mlm(const EvaluateMlmOptions& options) {
    if (options.output.output != "-") {
        prepare_output(options.output.output, options.output.overwrite());
    }
    pretraining::MlmEvaluationSpec spec = options.spec;
    spec.overwrite = options.output.overwrite();
    if (!spec.token_scores.empty()) prepare_output(spec.token_scores, spec.overwrite);
    const Json report = pretraining::evaluate_mlm(spec);
    write_report(report, options.output);
    for (const std::string& line : pretraining::mlm_table(report)) {
        log_info("{}", line);
    }
    return 0;
}

}  // namespace bigbird::cli
