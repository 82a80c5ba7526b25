// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/model/bigbird.hpp"
#include "bigbird/task_models/specs/score_specs.hpp"
#include "bigbird/training/device/autocast.hpp"

#include <cstdint>
#include <string>

namespace bigbird::task_models {

/// How an encoder computes; its parameters and what follows it are float32.
struct ComputeOptions {
    training::ComputeType type = training::ComputeType::fp32;
    bool is_default = false;  ///< nobody chose the type
    attention::Backend attention = attention::Backend::automatic;
};

/// From the values of --dtype (training::parse_compute_type) and --attention (model::usable_attention).
ComputeOptions parse_compute_options(const std::string& type, const std::string& attention,
                                     const at::Device& device);

/// Padded tokens per forward pass: the requested number, or with 0 the number that fits. Half of it if
/// gradients are kept on a GPU.
std::int64_t batch_tokens_on(const at::Device& device, std::int64_t asked, bool gradients = false);

/// Where and how a verb computes.
struct Job {
    at::Device device = at::kCPU;
    ComputeOptions computing{};
    std::int64_t batch_tokens = 0;
    int threads = 1;  ///< threads for work outside LibTorch
};

/// Opens the device and tells LibTorch how many threads it may use. Throws ConfigError, DeviceError.
Job open_job(const ComputeSpec& spec);

}  // namespace bigbird::task_models
