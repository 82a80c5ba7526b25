// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

namespace bigbird::training {

/// The type of the network's matrix products; parameters, moments and losses are always float32.
enum class ComputeType : std::uint8_t { fp32, bf16 };

/// "fp32", "bf16", or "auto": bf16 on a GPU, fp32 on a CPU. bf16 becomes fp32 on a CPU without instructions
/// for it (model/device/arithmetic.hpp). Throws ConfigError for another word.
ComputeType parse_compute_type(const std::string& word, const at::Device& device);

/// While it exists, matrix products of this thread run in bfloat16 on the device (LibTorch's autocast). This
/// requires the request for it, and a device with bfloat16 instructions.
class Autocast {
public:
    Autocast(ComputeType type, const at::Device& device);
    ~Autocast();
    Autocast(const Autocast&) = delete;
    Autocast& operator=(const Autocast&) = delete;

private:
    at::DeviceType device_;
    bool on_, before_ = false;
    at::ScalarType type_before_ = at::kBFloat16;
};

}  // namespace bigbird::training
