// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/computing.hpp"

#include "bigbird/model/device/usable_attention.hpp"

namespace bigbird::task_models {

Computing parse_computing(const std::string& type, const std::string& attention, const at::Device& device) {
    return {training::parse_compute_type(type, device), model::usable_attention(attention, device)};
}

std::int64_t batch_tokens_on(const at::Device& device, std::int64_t asked, bool gradients) {
    constexpr std::int64_t fits_cpu = 16'384, fits_gpu = 262'144;
    if (asked > 0) return asked;
    if (device.is_cpu()) return fits_cpu;
    return gradients ? fits_gpu / 2 : fits_gpu;
}

}  // namespace bigbird::task_models
