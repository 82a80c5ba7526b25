// SPDX-License-Identifier: Apache-2.0
#include "commands/commands.hpp"
#include "options/ranks_option.hpp"
#include "support/launch.hpp"

#include "bigbird/core/log.hpp"
#include "bigbird/pretraining/pretraining.hpp"

#include <cstdio>

namespace bigbird::cli {

namespace {

void print_plan(const Json& plan) {
    for (const std::string& line : pretraining::plan_lines(plan))
        std::puts(line.c_str());
}

}  // namespace

int run(const pretraining::PretrainSpec& spec) {
    if (launches_processes(spec.processes)) return launch_processes(spec.processes);
    pretraining::Pretraining pretraining(spec);
    const training::RankSpec rank = rank_of_this_process(spec.processes);
    if (rank.is_first() && spec.model.empty())
        log_info("network and training defaults: --config {}", spec.config);
    if (!spec.dry_run)
        log_info("{}: the pretrained model", pretraining.train(rank).model.string());
    else if (rank.is_first())
        print_plan(pretraining.plan(rank));
    return 0;
}

}  // namespace bigbird::cli
