// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/network/job.hpp"

#include "bigbird/core/parallel.hpp"
#include "bigbird/model/device/device.hpp"

namespace bigbird::task_models {

ComputeOptions parse_compute_options(const std::string& type, const std::string& attention,
                                     const at::Device& device) {
    return {training::parse_compute_type(type, device), type == "auto",
            model::usable_attention(attention, device)};
}

std::int64_t batch_tokens_on(const at::Device& device, std::int64_t asked, bool gradients) {
    constexpr std::int64_t fits_cpu = 16'384, fits_gpu = 262'144;
    if (asked > 0) return asked;
    if (device.is_cpu()) return fits_cpu;
    return gradients ? fits_gpu / 2 : fits_gpu;
}

Job open_job(const ComputeSpec& spec) {
    const int threads = resolve_threads(spec.threads);
    model::set_compute_threads(threads);
    const at::Device device = model::open_device(spec.device);
    return {device, parse_compute_options(spec.dtype, spec.attention, device),
            batch_tokens_on(device, spec.batch_tokens), threads};
}

}  // namespace bigbird::task_models
