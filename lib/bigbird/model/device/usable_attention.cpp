// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/device/usable_attention.hpp"

#include "bigbird/core/log.hpp"
#include "bigbird/model/device/libtorch_cuda.hpp"

namespace bigbird::model {

attention::Backend usable_attention(const std::string& name, const at::Device& device) {
    const attention::Backend asked_for = attention::backend_from_name(name);
    if (!device.is_cuda()) return asked_for;
    const std::vector<Gpu>& gpus = gpu_facts().driver.gpus;
    const auto index = static_cast<std::size_t>(device.has_index() ? device.index() : 0);
    const auto fallback = index < gpus.size() ? attention_fallback(name, gpus[index]) : std::nullopt;
    if (!fallback) return asked_for;
    log_warning("{}", fallback->sentence);
    return attention::backend_from_name(fallback->backend);
}

}  // namespace bigbird::model
