// SPDX-License-Identifier: Apache-2.0
#include "bigbird/training/ranks/rank_device.hpp"

#include "bigbird/model/device/device.hpp"

namespace bigbird::training {

std::string device_of(const RankSpec& rank, const std::string& device) {
    if (rank.size == 1 || (device != "auto" && device != "cuda") || (device == "auto" && !model::has_gpu()))
        return device;
    return "cuda:" + std::to_string(rank.local_rank);
}

}  // namespace bigbird::training
