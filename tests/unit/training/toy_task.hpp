// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/rng.hpp"
#include "bigbird/model/safetensors.hpp"
#include "bigbird/training/training_loop.hpp"

#include <ATen/ATen.h>
#include <torch/nn/modules/linear.h>

#include <csignal>
#include <fstream>
#include <functional>
#include <limits>

namespace bigbird::testing {

/// Fits y = tanh(A x) with a one-layer network; the data of a step follow from its number.
class ToyTask : public training::TrainingTask {
public:
    ToyTask() : layer_(torch::nn::LinearOptions(6, 4)) {
        const at::NoGradGuard guard;
        layer_->weight.copy_(numbers(1, {4, 6}));
        layer_->bias.zero_();
    }

    torch::nn::Module& module() override { return *layer_; }
    training::StepStats accumulate(std::int64_t step) override {
        ++steps_made;
        if (on_step) on_step(step);
        const at::Tensor x = numbers(100 + static_cast<std::uint64_t>(step), {16, 6});
        const at::Tensor wanted = numbers(2, {6, 4});
        const at::Tensor loss = (layer_->forward(x) - x.matmul(wanted).tanh()).square().mean();
        loss.backward();
        const at::Tensor shown =
            broken_steps(step) ? loss.detach() * std::numeric_limits<float>::quiet_NaN() : loss.detach();
        return {.loss = shown, .metrics = {{"twice", 2 * shown}}, .tokens = 96, .sequences = 16};
    }
    Json evaluate() override {
        if (on_evaluate) on_evaluate();
        const auto i = static_cast<std::size_t>(evaluations++);
        return {{"eval_loss", i < scripted.size() ? scripted[i] : 1.0}};
    }
    void write_model(const std::filesystem::path& directory) override {
        model::TensorMap tensors;
        for (const auto& item : layer_->named_parameters())
            tensors.emplace(item.key(), item.value().detach());
        model::write_safetensors(tensors, directory / "model.safetensors");
        if (on_write) on_write();
        std::ofstream(directory / "config.json") << "{}\n";
    }
    Json state() const override { return {{"evaluations", evaluations}}; }
    void restore(const Json& state) override { evaluations = state.at("evaluations").get<int>(); }

    at::Tensor weight() const { return layer_->weight.detach(); }

    int steps_made = 0, evaluations = 0;
    std::vector<double> scripted;
    std::function<void(std::int64_t)> on_step;
    std::function<void()> on_evaluate;
    std::function<void()> on_write;  ///< in the middle of a model folder
    std::function<bool(std::int64_t)> broken_steps = [](std::int64_t) { return false; };

private:
    static at::Tensor numbers(std::uint64_t seed, at::IntArrayRef sizes) {
        Rng rng(seed);
        at::Tensor tensor = at::empty(sizes);
        float* values = tensor.mutable_data_ptr<float>();
        for (std::int64_t i = 0; i < tensor.numel(); ++i)
            values[i] = static_cast<float>(rng.normal());
        return tensor;
    }
    torch::nn::Linear layer_;
};

inline training::LoopSpec toy_spec(std::int64_t steps) {
    training::LoopSpec spec;
    spec.learning_rate = {.peak = 0.02, .warmup_steps = 3, .total_steps = steps};
    spec.run.checkpoint_every = 4;
    spec.fixed_options = {{"--steps", steps}, {"--batch-size", 16}};
    return spec;
}

}  // namespace bigbird::testing
