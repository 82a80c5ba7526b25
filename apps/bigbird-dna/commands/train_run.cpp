// SPDX-License-Identifier: Apache-2.0
#include "commands/commands.hpp"

#include "bigbird/task_models/pipeline/train.hpp"

#include <cstdio>

namespace bigbird::cli {

int run(const task_models::TrainSpec& spec) {
    for (const std::string& line :
         spec.dry_run ? task_models::forecast_train(spec) : task_models::train(spec))
        std::printf("%s\n", line.c_str());
    return 0;
}

}  // namespace bigbird::cli
