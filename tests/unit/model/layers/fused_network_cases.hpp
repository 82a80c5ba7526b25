// SPDX-License-Identifier: Apache-2.0
// A network that the CUDA kernels can train, and one step of it on any device.
#pragma once

#include "support/tensors.hpp"
#include "unit/model/layers/cuda_elementwise_cases.hpp"
#include "unit/model/small_model.hpp"

#include <ATen/autocast_mode.h>

#include <cmath>
#include <vector>

namespace bigbird::testing {

/// Autocast to bfloat16 while it lives.
class InBf16 {
public:
    explicit InBf16(at::DeviceType device = at::kCPU) : device_(device) {
        at::autocast::set_autocast_dtype(device_, at::kBFloat16);
        at::autocast::set_autocast_enabled(device_, true);
    }
    ~InBf16() {
        at::autocast::set_autocast_enabled(device_, false);
        at::autocast::clear_cache();
    }
    InBf16(const InBf16&) = delete;
    InBf16& operator=(const InBf16&) = delete;

private:
    at::DeviceType device_;
};

/// Two layers of two heads of 64, blocks of 64, sparse at eleven blocks.
inline model::BigBirdConfig kernel_config() {
    model::BigBirdConfig config = small_config();
    config.vocab_size = 56;  // a multiple of 8
    config.hidden_size = 128;
    config.intermediate_size = 256;
    config.max_position_embeddings = 704;
    config.pattern.block_size = 64;
    config.initializer_range = 0.1;
    config.hidden_dropout_prob = 0.1;
    return config;
}

/// The loss and all gradients of one batch, in training mode, on the CPU.
inline Results train_once(const model::BigBirdConfig& config, attention::Backend backend, at::ScalarType type,
                          const at::Device& device = at::kCPU) {
    model::PreTrainingModel network(config);
    model::initialise(*network, config, 1);
    network->to(device, type);
    network->set_attention_backend(backend);
    network->train();
    std::vector<model::TokenSequence> sequences{random_sequence(704, 1), random_sequence(650, 2)};
    const model::EncoderInput input = model::make_input(sequences, config, device);
    const at::Tensor positions = at::arange(0, 1300, 7, at::TensorOptions(device).dtype(at::kLong));
    const at::Tensor labels = input.input_ids.view(-1).index_select(0, positions);
    const at::Tensor hidden = network->encode(input, false, {1, 2, 3}).hidden;
    const at::Tensor loss = network->loss(hidden, positions, labels).nats / 100;
    loss.backward();
    std::vector<at::Tensor> results{loss};
    for (const at::Tensor& parameter : network->parameters())
        if (parameter.grad().defined()) results.push_back(parameter.grad());
    return as_results(std::move(results));
}

/// Euclidean distance over all gradients.
inline double distance(const Results& a, const Results& b) {
    double sum = 0;
    for (std::size_t i = 1; i < a.size(); ++i)
        sum += (a[i] - b[i]).square().sum().item<double>();
    return std::sqrt(sum);
}

/// The rule for low precision: loss and gradients at most twice and three times as far from fp64 as LibTorch.
inline bool trains_as_near(const Results& found, const Results& exact, const Results& by_torch) {
    const auto loss_error = [&](const Results& results) {
        return std::abs(results[0].item<double>() - exact[0].item<double>());
    };
    return found.size() == exact.size() &&
           loss_error(found) <= 2 * loss_error(by_torch) + 1e-3 * exact[0].item<double>() &&
           distance(found, exact) <= 3 * distance(by_torch, exact);
}

}  // namespace bigbird::testing
