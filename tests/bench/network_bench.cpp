// SPDX-License-Identifier: Apache-2.0
// One timing of a network, for scripts/measure/compare-transformers: random weights, random
// ids.
//   network_bench forward|train fp32|bf16 PRESET|FOLDER PATTERN BATCH LENGTH REPEATS THREADS
// PATTERN: hf or uniform (BigBird's blocks), or full; not used with a model's FOLDER. Prints a JSON line: the
// fewest seconds, by the clock and of the processor, of REPEATS passes behind one that warms up (0: that
// one), the process's peak memory, the type that was computed in, and the processor.
#include "bigbird/core/system/processor.hpp"
#include "bigbird/model/bigbird.hpp"
#include "bigbird/model/device/device.hpp"
#include "bigbird/model/model_directory.hpp"
#include "bigbird/training/device/autocast.hpp"
#include "bigbird/training/optimizer.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <limits>
#include <string>

namespace {

using namespace bigbird;

model::BigBirdConfig config_of(const std::string& preset, const std::string& pattern, std::int64_t length) {
    model::BigBirdConfig config = model::preset(preset);
    config.max_position_embeddings = std::max<std::int64_t>(4096, length);
    config.pattern.full = pattern == "full";
    config.pattern.random_source =
        pattern == "uniform" ? attention::RandomSource::uniform : attention::RandomSource::hf;
    return config;
}

/// Of random weights, or those of a folder.
model::PreTrainingModel network_of(const std::string& name, const std::string& pattern, std::int64_t length) {
    if (std::filesystem::is_directory(name)) return model::load_encoder(name, at::kCPU).model;
    const model::BigBirdConfig config = config_of(name, pattern, length);
    model::PreTrainingModel network(config);
    model::initialise(*network, config, 1);
    return network;
}

model::EncoderInput input_of(const model::BigBirdConfig& config, std::int64_t batch, std::int64_t length) {
    const std::int64_t block = config.pattern.block_size, padded = (length + block - 1) / block * block;
    model::EncoderInput input{at::randint(5, config.vocab_size, {batch, padded}, at::kLong),
                              at::zeros({batch, padded}, at::kLong), at::ones({batch, padded}, at::kBool)};
    input.attention_mask.narrow(1, length, padded - length).fill_(false);
    return input;
}

void train_step(model::PreTrainingModel& network, training::Optimizer& optimizer,
                const model::EncoderInput& input, training::ComputeType type) {
    const std::int64_t tokens = input.input_ids.numel();
    const at::Tensor chosen = at::arange(0, tokens, 7, at::kLong);
    at::Tensor loss;
    {
        const training::Autocast autocast(type, at::kCPU);
        const at::Tensor logits = network->forward(input, chosen, {1, 0, 0}).prediction_logits;
        loss =
            at::cross_entropy_loss(logits.to(at::kFloat), input.input_ids.view(-1).index_select(0, chosen));
    }
    loss.backward();
    optimizer.step(1e-4, loss.detach());
    optimizer.zero_gradients();
}

// Seconds by the clock, and of the processor on all threads.
struct Taken {
    double seconds = std::numeric_limits<double>::infinity(), processor_seconds = seconds;
};

template <typename Pass>
Taken fastest(int repeats, Pass&& pass) {
    Taken best;
    for (int i = 0; i <= repeats; ++i) {
        const auto begin = std::chrono::steady_clock::now();
        const std::clock_t processor_begin = std::clock();
        pass();
        const double processor = static_cast<double>(std::clock() - processor_begin) / CLOCKS_PER_SEC;
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
        if (i > 0 || repeats == 0)
            best = {std::min(best.seconds, took.count()), std::min(best.processor_seconds, processor)};
    }
    return best;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 9) {
        std::fputs("network_bench forward|train fp32|bf16 PRESET PATTERN BATCH LENGTH REPEATS THREADS\n",
                   stderr);
        return 2;
    }
    limit_libraries();
    const std::string mode = argv[1], type = argv[2];
    const at::ScalarType computed =
        model::arithmetic_type(type == "bf16" ? at::kBFloat16 : at::kFloat, at::kCPU);
    const std::int64_t batch = std::stoll(argv[5]), length = std::stoll(argv[6]);
    model::set_compute_threads(std::stoi(argv[8]));
    at::manual_seed(1);
    model::PreTrainingModel network = network_of(argv[3], argv[4], length);
    const model::EncoderInput input = input_of(network->config(), batch, length);
    const int repeats = std::stoi(argv[7]);
    Taken taken;
    if (mode == "train") {
        network->train();
        training::Optimizer optimizer(*network, {});
        taken = fastest(repeats, [&] {
            train_step(network, optimizer, input,
                       computed == at::kBFloat16 ? training::ComputeType::bf16 : training::ComputeType::fp32);
        });
    } else {
        network->eval();
        network->to(computed);
        const c10::InferenceMode inference;
        taken = fastest(repeats, [&] { network->encode(input); });
    }
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    std::printf(
        "{\"seconds\": %.4f, \"processor_seconds\": %.4f, \"peak_mb\": %ld, \"type\": \"%s\", "
        "\"processor\": \"%s, %s\"}\n",
        taken.seconds, taken.processor_seconds, usage.ru_maxrss / 1024,
        computed == at::kBFloat16 ? "bf16" : "fp32", processor_name().c_str(),
        std::string(name_of(instruction_set())).c_str());
    return 0;
}
