// SPDX-License-Identifier: Apache-2.0
#include "options/ranks_option.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/log.hpp"

namespace bigbird::cli {

bool launches_processes(int processes) {
    return processes > 1 && training::ranks_from_environment().size == 1;
}

training::RankSpec place_of_this_process(int processes) {
    training::RankSpec place = training::ranks_from_environment();
    if (processes > 1 && processes != place.size) {
        throw ConfigError("--processes " + std::to_string(processes) +
                          " contradicts the environment, in which this is one of " +
                          std::to_string(place.size) + " processes; leave out --processes");
    }
    if (!place.is_first()) {
        set_up_log(Verbosity::quiet, "process " + std::to_string(place.rank) + ": ");
    }
    return place;
}

}  // namespace bigbird::cli
