// SPDX-License-Identifier: Apache-2.0
#include "options/ranks_option.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/log.hpp"

namespace bigbird::cli {

bool launches_processes(int processes) {
    return processes > 1 && training::ranks_from_environment().size == 1;
}

training::RankSpec rank_of_this_process(int processes) {
    training::RankSpec rank = training::ranks_from_environment();
    if (processes > 1 && processes != rank.size) {
        throw ConfigError("--processes " + std::to_string(processes) +
                          " contradicts the environment, in which this is one of " +
                          std::to_string(rank.size) + " processes; leave out --processes");
    }
    if (!rank.is_first()) set_up_log(Verbosity::quiet, "process " + std::to_string(rank.rank) + ": ");
    return rank;
}

}  // namespace bigbird::cli
