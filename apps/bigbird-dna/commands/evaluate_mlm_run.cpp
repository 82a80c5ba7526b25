// SPDX-License-Identifier: Apache-2.0
#include "commands/commands.hpp"
#include "commands/evaluate_mlm.hpp"

#include "bigbird/core/log.hpp"
#include "bigbird/genome/text/text_output.hpp"
#include "bigbird/pretraining/mlm_evaluation.hpp"

#include <memory>
#include <vector>

namespace bigbird::cli {

int run(const EvaluateMlmOptions& options) {
    const Overwrite overwrite = options.output.overwrite();
    std::vector<std::unique_ptr<genome::TextOutput>> outputs;
    outputs.push_back(std::make_unique<genome::TextOutput>(options.output.output, overwrite));
    if (!options.token_scores.empty())
        outputs.push_back(std::make_unique<genome::TextOutput>(options.token_scores, overwrite));
    const Json report = pretraining::evaluate_mlm(
        options.spec, options.token_scores.empty() ? nullptr : outputs.back().get());
    outputs.front()->write(report.dump(2) + "\n");
    genome::commit_together(outputs);
    for (const std::string& line : pretraining::mlm_table(report))
        log_info("{}", line);
    return 0;
}

}  // namespace bigbird::cli
