// SPDX-License-Identifier: Apache-2.0
#include "bigbird/training/device/autocast.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/model/device/arithmetic.hpp"

#include <ATen/autocast_mode.h>

namespace bigbird::training {

ComputeType parse_compute_type(const std::string& word, const at::Device& device) {
    if (word == "auto") return device.is_cpu() ? ComputeType::fp32 : ComputeType::bf16;
    if (word == "fp32") return ComputeType::fp32;
    if (word == "bf16") {
        return model::arithmetic_type(at::kBFloat16, device) == at::kBFloat16 ? ComputeType::bf16
                                                                              : ComputeType::fp32;
    }
    throw ConfigError("--dtype is '" + word + "'; it can be auto, fp32 or bf16");
}

Autocast::Autocast(ComputeType type, const at::Device& device)
    : device_(device.type()), on_(type == ComputeType::bf16 && model::computes_bf16(device)) {
    if (on_) {
        before_ = at::autocast::is_autocast_enabled(device_);
        type_before_ = at::autocast::get_autocast_dtype(device_);
        at::autocast::set_autocast_dtype(device_, at::kBFloat16);
        at::autocast::set_autocast_enabled(device_, true);
        at::autocast::increment_nesting();
    }
}

Autocast::~Autocast() {
    if (on_) {
        if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
        at::autocast::set_autocast_enabled(device_, before_);
        at::autocast::set_autocast_dtype(device_, type_before_);
    }
}

}  // namespace bigbird::training
