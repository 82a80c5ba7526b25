// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace bigbird::task_models {

/// Where and how a network computes.
struct ComputeSpec {
    std::int64_t batch_tokens = 0;                        ///< padded tokens a batch; 0: fits the device
    std::string device = "auto";                          ///< model::open_device
    std::string dtype = "auto", attention = "automatic";  ///< parse_computing
    int threads = 0;                                      ///< 0: all that this process may use
};

}  // namespace bigbird::task_models
