// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/device/arithmetic.hpp"

#include "bigbird/core/log.hpp"
#include "bigbird/core/system/processor.hpp"

#include <mutex>

namespace bigbird::model {

bool computes_bf16(const at::Device& device) {
    return !device.is_cpu() || has_bf16_instructions();
}

at::ScalarType arithmetic_type(at::ScalarType type, const at::Device& device) {
    if (type != at::kBFloat16 || computes_bf16(device)) return type;
    static std::once_flag said;
    std::call_once(said, [] {
        log_warning("this processor has no bfloat16 instructions, so bf16 is computed in fp32");
    });
    return at::kFloat;
}

}  // namespace bigbird::model
