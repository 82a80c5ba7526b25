// SPDX-License-Identifier: Apache-2.0
// Timings on a GPU, for scripts/gpu-check. Random weights and inputs, a JSON line a measurement; seconds are
// the median of repeats behind some that warm up, each over enough passes that the clock does not matter.
//   gpu_bench attention LENGTH BACKEND          BACKEND: fused-hopper, fused, blocked, dense (LibTorch's)
//   gpu_bench train PRESET LENGTH BATCH BACKEND    forward, backward and AdamW, bf16
//   gpu_bench infer PRESET LENGTH BATCH BACKEND    919 labels, bf16
// --try-on-cpu before these runs them there, for mistakes. What is measured is printed at once; behind a
// training's line come the kernels that took most of a step, where LibTorch's profiler can tell.
#include "bigbird/attention/backends.hpp"
#include "bigbird/model/bigbird.hpp"
#include "bigbird/model/device/device.hpp"
#include "bigbird/pretraining/masked/cost.hpp"
#include "bigbird/training/device/autocast.hpp"
#include "bigbird/training/optimizer.hpp"

#include <ATen/ATen.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/profiler_kineto.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace bigbird;

constexpr std::int64_t block = 64, heads = 12, head_dim = 64;

void synchronise(const at::Device& device) {
    if (device.is_cpu()) return;  // its guard has no such thing
    c10::impl::VirtualGuardImpl(device.type()).synchronizeDevice(device.index());
}

double seconds_of(const at::Device& device, int passes, const auto& pass) {
    synchronise(device);
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < passes; ++i)
        pass();
    synchronise(device);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / passes;
}

/// Median seconds of a pass over 7 repeats of at least 30 ms.
double median_seconds(const at::Device& device, const auto& pass) {
    for (int i = 0; i < 3; ++i)
        pass();
    const int passes = std::clamp(static_cast<int>(0.03 / seconds_of(device, 1, pass)), 1, 1000);
    std::vector<double> times;
    for (int i = 0; i < 7; ++i)
        times.push_back(seconds_of(device, passes, pass));
    std::nth_element(times.begin(), times.begin() + 3, times.end());
    return times[3];
}

attention::PatternSpec pattern_spec() {
    return {};  // BigBird's own: blocks of 64, 2 global, 3 window, 3 random
}

/// Pairs of query and key blocks that a head of layer 0 attends, on average.
double attended_pairs(std::int64_t blocks) {
    std::size_t pairs = 0;
    for (int head = 0; head < heads; ++head)
        pairs += attention::make_layout(pattern_spec(), static_cast<int>(blocks), 0, head).columns.size();
    return static_cast<double>(pairs) / static_cast<double>(heads);
}

/// One set of inputs. Several are rotated, so that nothing is found in the cache that a network would not
/// find.
struct Inputs {
    at::Tensor q, k, v, d_out, mask;
};

Inputs make_inputs(const at::Device& device, std::int64_t batch, std::int64_t length, bool gradients) {
    const auto options = at::TensorOptions(device).dtype(at::kBFloat16);
    const auto draw = [&] {
        return at::randn({batch, length, heads, head_dim}, options).transpose(1, 2).requires_grad_(gradients);
    };
    return {draw(), draw(), draw(), draw().detach(),
            at::ones({batch, length}, at::TensorOptions(device).dtype(at::kBool))};
}

at::Tensor attend(const std::string& backend, const Inputs& x, const attention::LayerLayout& layout) {
    return backend == "dense" ? at::scaled_dot_product_attention(x.q, x.k, x.v)
                              : attention::sparse_attention(x.q, x.k, x.v, x.mask, layout,
                                                            attention::backend_from_name(backend));
}

void time_attention(const at::Device& device, std::int64_t length, const std::string& backend) {
    const std::int64_t batch = std::max<std::int64_t>(1, 65536 / length), blocks = length / block;
    attention::LayoutCache layouts(pattern_spec(), static_cast<int>(heads));
    const auto layout = layouts.get(static_cast<int>(blocks), 0, device);
    std::vector<Inputs> sets;
    for (int i = 0; i < 4; ++i)
        sets.push_back(make_inputs(device, batch, length, true));
    std::size_t next = 0;
    const auto forward = [&] {
        const at::NoGradGuard no_gradient;
        attend(backend, sets[next++ % sets.size()], *layout);
    };
    const auto both = [&] {
        const Inputs& x = sets[next++ % sets.size()];
        torch::autograd::grad({attend(backend, x, *layout)}, {x.q, x.k, x.v}, {x.d_out});
    };
    const double forward_seconds = median_seconds(device, forward);
    const double backward_seconds = median_seconds(device, both) - forward_seconds;
    const double pairs = backend == "dense" ? static_cast<double>(blocks * blocks) : attended_pairs(blocks);
    // Multiply-adds of two products forward and five backward; what a backend computes twice counts once.
    const double products =
        pairs * static_cast<double>(batch * heads * block * block * head_dim) * 2.0 * 1e-12;
    std::printf(
        "{\"what\": \"attention\", \"backend\": \"%s\", \"length\": %ld, \"batch\": %ld, \"forward_ms\": "
        "%.4f, \"backward_ms\": %.4f, \"forward_tflops\": %.1f, \"backward_tflops\": %.1f}\n",
        backend.c_str(), length, batch, forward_seconds * 1e3, backward_seconds * 1e3,
        2 * products / forward_seconds, 5 * products / backward_seconds);
}

model::BigBirdConfig config_of(const std::string& preset, std::int64_t length) {
    model::BigBirdConfig config = model::preset(preset);
    config.max_position_embeddings = std::max(config.max_position_embeddings, length);
    config.pattern = pattern_spec();
    return config;
}

model::EncoderInput input_of(const model::BigBirdConfig& config, std::int64_t batch, std::int64_t length,
                             const at::Device& device) {
    const at::TensorOptions ids = at::TensorOptions(device).dtype(at::kLong);
    return {at::randint(5, config.vocab_size, {batch, length}, ids), at::zeros({batch, length}, ids),
            at::ones({batch, length}, ids.dtype(at::kBool))};
}

/// A network in training, and its step.
class Training {
public:
    Training(const at::Device& device, const std::string& preset, std::int64_t length, std::int64_t batch,
             const std::string& backend)
        : device_(device), config_(config_of(preset, length)), network_(config_) {
        model::initialise(*network_, config_, 1);
        network_->to(device);
        network_->train();
        network_->set_attention_backend(attention::backend_from_name(backend));
        optimizer_ = std::make_unique<training::Optimizer>(*network_, training::OptimizerSpec{});
        input_ = input_of(config_, batch, length, device);
        chosen_ = at::arange(0, batch * length, 7, input_.input_ids.options());
        labels_ = input_.input_ids.view(-1).index_select(0, chosen_);
    }
    void step() {
        at::Tensor loss;
        {
            const training::Autocast autocast(training::ComputeType::bf16, device_);
            loss = network_->loss(network_->encode(input_, false, {1, 0, 0}).hidden, chosen_, labels_).nats /
                   static_cast<double>(chosen_.numel());
        }
        loss.backward();
        optimizer_->step(1e-4, loss.detach());
        optimizer_->zero_gradients();
    }
    /// Of one step.
    double operations() const {
        const std::int64_t tokens = input_.input_ids.numel();
        return 3 * pretraining::forward_operations(config_, input_.input_ids.size(1) / block, tokens,
                                                   chosen_.numel());
    }

private:
    at::Device device_;
    model::BigBirdConfig config_;
    model::PreTrainingModel network_;
    std::unique_ptr<training::Optimizer> optimizer_;
    model::EncoderInput input_;
    at::Tensor chosen_, labels_;
};

struct Share {
    double milliseconds = 0;
    int calls = 0;
};

/// What a pass's time went to: kernels by name on a GPU, operators on a CPU.
std::map<std::string, Share> shares_of(const at::Device& device, const auto& pass) {
    namespace profiler = torch::autograd::profiler;
    using Activity = torch::profiler::impl::ActivityType;
    std::set<Activity> activities{Activity::CPU};
    if (device.is_cuda()) activities.insert(Activity::CUDA);
    const profiler::ProfilerConfig config(torch::profiler::impl::ProfilerState::KINETO);
    profiler::prepareProfiler(config, activities);
    profiler::enableProfiler(config, activities);
    pass();
    synchronise(device);
    std::map<std::string, Share> shares;
    const auto result = profiler::disableProfiler();  // owns the events
    for (const profiler::KinetoEvent& event : result->events()) {
        if (event.deviceType() == device.type() && event.durationNs() > 0) {
            Share& share = shares[event.name()];
            share.milliseconds += static_cast<double>(event.durationNs()) * 1e-6;
            ++share.calls;
        }
    }
    return shares;
}

/// As JSON has it, without what all of our kernels' names share.
std::string short_name(std::string name) {
    constexpr std::size_t most = 110;
    for (const char* const part : {"void ", "bigbird::attention::cuda::", "at::native::", "at::"})
        for (std::size_t at = name.find(part); at != std::string::npos; at = name.find(part))
            name.erase(at, std::string(part).size());
    std::ranges::replace_if(
        name, [](char letter) { return letter == '"' || letter == '\\' || letter < ' '; }, '_');
    return name.substr(0, most);
}

void print_shares(const std::string& backend, const std::map<std::string, Share>& shares) {
    constexpr std::size_t most = 40;
    std::vector<std::pair<std::string, Share>> sorted(shares.begin(), shares.end());
    std::ranges::sort(sorted, {}, [](const auto& item) { return -item.second.milliseconds; });
    double sum = 0;
    for (const auto& [name, share] : sorted)
        sum += share.milliseconds;
    sorted.resize(std::min(sorted.size(), most));
    for (const auto& [name, share] : sorted) {
        std::printf(
            "{\"what\": \"kernel\", \"backend\": \"%s\", \"share\": %.3f, \"ms\": %.3f, \"calls\": %d, "
            "\"name\": \"%s\"}\n",
            backend.c_str(), share.milliseconds / sum, share.milliseconds, share.calls,
            short_name(name).c_str());
    }
}

void time_training(const at::Device& device, const std::string& preset, std::int64_t length,
                   std::int64_t batch, const std::string& backend) {
    Training training(device, preset, length, batch, backend);
    const double seconds = median_seconds(device, [&] { training.step(); });
    std::printf(
        "{\"what\": \"train\", \"backend\": \"%s\", \"preset\": \"%s\", \"length\": %ld, \"batch\": %ld, "
        "\"tokens_per_second\": %.0f, \"tflops\": %.1f, \"mfu_of_989\": %.3f, \"peak_gb\": %.1f}\n",
        backend.c_str(), preset.c_str(), length, batch, static_cast<double>(batch * length) / seconds,
        training.operations() / seconds * 1e-12, training.operations() / seconds / 989e12,
        static_cast<double>(training::peak_memory(device)) * 1e-9);
    try {
        print_shares(backend, shares_of(
                                  device, [&] { training.step(); }));
    } catch (const std::exception& error) {  // the profiler's library may be missing
        std::fprintf(stderr, "gpu_bench: no times of kernels: %s\n", error.what());
    }
}

void find_longest(const at::Device& device, const std::string& preset, const std::string& backend) {
    std::int64_t longest = 0;
    for (std::int64_t length = 4096; length <= 1 << 22; length *= 2) {
        try {
            Training training(device, preset, length, 1, backend);
            training.step();
            synchronise(device);
        } catch (const c10::OutOfMemoryError&) {
            break;
        }
        longest = length;
    }
    std::printf("{\"what\": \"longest\", \"backend\": \"%s\", \"preset\": \"%s\", \"length\": %ld}\n",
                backend.c_str(), preset.c_str(), longest);
}

void time_inference(const at::Device& device, const std::string& preset, std::int64_t length,
                    std::int64_t batch, const std::string& backend) {
    model::BigBirdConfig config = config_of(preset, length);
    config.num_labels = 919;
    model::SequenceClassifier network(config);
    model::initialise(*network, config, 1);
    network->to(device, at::kBFloat16);
    network->eval();
    network->set_attention_backend(attention::backend_from_name(backend));
    const model::EncoderInput input = input_of(config, batch, length, device);
    const c10::InferenceMode inference;
    const double seconds = median_seconds(device, [&] { network->forward(input); });
    std::printf(
        "{\"what\": \"infer\", \"backend\": \"%s\", \"preset\": \"%s\", \"length\": %ld, \"batch\": %ld, "
        "\"windows_per_second\": %.1f}\n",
        backend.c_str(), preset.c_str(), length, batch, static_cast<double>(batch) / seconds);
}

std::vector<std::string> parts_of(const std::string& list) {
    std::vector<std::string> parts;
    std::istringstream stream(list);
    for (std::string part; std::getline(stream, part, ',');)
        parts.push_back(part);
    return parts;
}

int run(std::vector<std::string> arguments) {
    const bool on_cpu = !arguments.empty() && arguments[0] == "--try-on-cpu";
    if (on_cpu) arguments.erase(arguments.begin());
    const std::string mode = arguments.empty() ? "" : arguments[0];
    const auto is = [&](const char* name, std::size_t count) {
        return mode == name && arguments.size() == count;
    };
    if (!is("attention", 3) && !is("train", 5) && !is("infer", 5) && !is("longest", 3)) {
        std::fputs(
            "gpu_bench [--try-on-cpu] attention LENGTH,... BACKEND,... | train|infer PRESET LENGTH BATCH "
            "BACKEND | longest "
            "PRESET BACKEND\n",
            stderr);
        return 2;
    }
    const at::Device device = model::open_device(on_cpu ? "cpu" : "cuda");
    at::manual_seed(1);
    if (mode == "longest") {
        find_longest(device, arguments[1], arguments[2]);
    } else if (mode != "attention") {
        (mode == "train" ? time_training : time_inference)(device, arguments[1], std::stoll(arguments[2]),
                                                           std::stoll(arguments[3]), arguments[4]);
    } else {
        for (const std::string& length : parts_of(arguments[1])) {
            for (const std::string& backend : parts_of(arguments[2])) {
                try {
                    time_attention(device, std::stoll(length), backend);
                } catch (const c10::Error& error) {  // out of memory: the next may do with less
                    std::fprintf(stderr, "gpu_bench: %s at %s: %s\n", backend.c_str(), length.c_str(),
                                 error.what_without_backtrace());
                }
            }
        }
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    std::setvbuf(stdout, nullptr, _IOLBF, 1024);  // each line at once, into a file too
    try {
        return run({argv + 1, argv + argc});
    } catch (const std::exception& error) {
        std::fprintf(stderr, "gpu_bench: %s\n", error.what());
        return 70;
    }
}
