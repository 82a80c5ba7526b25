// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/computing.hpp"

#include "bigbird/model/device/usable_attention.hpp"

namespace bigbird::task_models {

Computing parse_computing(const std::string& type, const std::string& attention, const at::Device& device) {
    return {training::parse_compute_type(type, device), model::usable_attention(attention, device)};
}

}  // namespace bigbird::task_models
