// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/core/formats/json_file.hpp"

#include <cstdint>
#include <string>

namespace bigbird::training {

/// Settings of checkpoints, resuming and stopping. They do not change the result.
struct RunSpec {
    std::string resume = "auto";           ///< "auto", "never", or a checkpoint or run folder
    bool force = false;                    ///< with "never": discard the existing run
    std::int64_t checkpoint_every = 1000;  ///< steps; one more is written at the end and on stopping
    int keep = 3;                          ///< newest checkpoints
    std::int64_t keep_every = 0;           ///< also keeps one every this many steps; 0: none
    double max_hours = 0;                  ///< limit of this process; 0: none

    /// The settings that a run records, by the options' names.
    Json settings() const;
};

}  // namespace bigbird::training
