// SPDX-License-Identifier: Apache-2.0
#include "bigbird/training/ranks/ranks.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/training/device/autocast.hpp"

#include <ATen/ATen.h>
#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <torch/csrc/distributed/c10d/comm.hpp>
#include <torch/csrc/distributed/c10d/reducer.hpp>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <exception>

namespace bigbird::training {

namespace {

// Longer than any checkpoint or evaluation that the others wait for.
constexpr std::chrono::minutes patience{120};
constexpr std::chrono::minutes patience_at_start{10};
constexpr std::size_t first_bucket_bytes = 1 << 20, bucket_bytes = 25 << 20;

c10::intrusive_ptr<c10d::Store> open_store(const RankSpec& spec) {
    c10::intrusive_ptr<c10d::Store> store;
    if (!spec.meeting_file.empty()) {
        store = c10::make_intrusive<c10d::FileStore>(spec.meeting_file.string(), spec.size);
    } else {
        c10d::TCPStoreOptions options;
        options.port = static_cast<std::uint16_t>(spec.port);
        options.isServer = spec.is_first() && !spec.agent_listens;
        options.numWorkers =
            spec.agent_listens ? std::nullopt : std::optional(static_cast<std::size_t>(spec.size));
        options.multiTenant = true;
        options.timeout = patience_at_start;
        store = c10::make_intrusive<c10d::TCPStore>(spec.host, options);
    }
    store->setTimeout(patience_at_start);
    return c10::make_intrusive<c10d::PrefixStore>("bigbird-dna/" + spec.attempt, store);
}

c10::intrusive_ptr<c10d::Backend> gloo(const c10::intrusive_ptr<c10d::Store>& store, const RankSpec& spec) {
    auto options = c10d::ProcessGroupGloo::Options::create(patience);
    const char* interface = std::getenv("GLOO_SOCKET_IFNAME");
    if (interface != nullptr && *interface != '\0')
        options->devices.push_back(c10d::ProcessGroupGloo::createDeviceForInterface(interface));
    else if (!spec.meeting_file.empty())
        options->devices.push_back(c10d::ProcessGroupGloo::createDeviceForHostname("127.0.0.1"));
    else
        options->devices.push_back(c10d::ProcessGroupGloo::createDefaultDevice());
    return c10::make_intrusive<c10d::ProcessGroupGloo>(store, spec.rank, spec.size, options);
}

[[noreturn]] void throw_lost(const RankSpec& spec, const std::exception& error) {
    stop_if_asked();  // rethrows Stopped for a stop signal
    const std::string text = error.what();
    throw DeviceError("process " + std::to_string(spec.rank) + " of " + std::to_string(spec.size) +
                      " lost the others: one of them failed, and its own message says why (" +
                      text.substr(0, text.find('\n')) + ")");
}

/// Sums gradients; c10d's own hook would average them.
class SumHook : public c10d::CppCommHookInterface<c10::intrusive_ptr<c10d::ProcessGroup>> {
public:
    using CppCommHookInterface::CppCommHookInterface;
    c10::intrusive_ptr<c10::ivalue::Future> runHook(c10d::GradBucket& bucket) override {
        std::vector<at::Tensor> tensors{bucket.getBufferRef()};
        return state_->allreduce(tensors)->getFuture();
    }
};

}  // namespace

Ranks::Ranks() = default;
Ranks::~Ranks() = default;

Ranks::Ranks(const RankSpec& spec, const at::Device& device) : spec_(spec) {
    if (spec.size <= 1) return;
    // If a signal ends one process before it gets here, the others would wait forever.
    const EndAtSignal end_at_signal;
    try {
        const auto store = open_store(spec);
        const bool gpu = device.is_cuda();
        const auto backend = gpu ? open_nccl(store, spec.rank, spec.size, device) : gloo(store, spec);
        const auto type = gpu ? c10d::ProcessGroup::BackendType::NCCL : c10d::ProcessGroup::BackendType::GLOO;
        device_ = device;
        group_ = c10::make_intrusive<c10d::ProcessGroup>(store, spec.rank, spec.size);
        group_->setBackend(device.type(), type, backend);
        group_->setDefaultBackend(type);
        wait_for_all();
    } catch (const Error&) {
        throw;
    } catch (const std::exception& error) {
        const std::string text = error.what();
        throw DeviceError("process " + std::to_string(spec.rank) + " of " + std::to_string(spec.size) +
                          " does not reach the others" +
                          (spec.host.empty() ? "" : " at " + spec.host + ":" + std::to_string(spec.port)) +
                          ": " + text.substr(0, text.find('\n')));
    }
}

/// Calls `start` with the values on the group's device, waits, and puts the result into the values.
template <typename Start>
void Ranks::exchange(at::Tensor& values, const Start& start) {
    if (!group_) return;
    try {
        std::vector<at::Tensor> tensors{values.to(device_)};
        start(tensors)->wait();
        if (!tensors.front().is_same(values)) values.copy_(tensors.front());
    } catch (const std::exception& error) {
        throw_lost(spec_, error);
    }
}

void Ranks::sum(at::Tensor& values) {
    exchange(
        values, [&](auto& tensors) { return group_->allreduce(tensors); });
}

void Ranks::broadcast(at::Tensor& values) {
    exchange(
        values, [&](auto& tensors) { return group_->broadcast(tensors); });
}

Json Ranks::broadcast(const Json& value) {
    return gather(value).front();
}

std::vector<Json> Ranks::gather(const Json& value) {
    if (!group_) return {value};
    const std::string text = value.dump();
    at::Tensor sizes = at::zeros({spec_.size}, at::kLong);
    sizes.mutable_data_ptr<std::int64_t>()[spec_.rank] = static_cast<std::int64_t>(text.size());
    sum(sizes);
    const at::Tensor ends = sizes.cumsum(0);
    const auto* end = ends.const_data_ptr<std::int64_t>();
    const auto begin = [&](int rank) { return rank == 0 ? 0 : end[rank - 1]; };
    at::Tensor bytes = at::zeros({end[spec_.size - 1]}, at::kByte);  // each rank's own part, else 0
    std::memcpy(bytes.mutable_data_ptr<std::uint8_t>() + begin(spec_.rank), text.data(), text.size());
    sum(bytes);
    const auto* first = bytes.const_data_ptr<std::uint8_t>();
    std::vector<Json> values;
    for (int rank = 0; rank < spec_.size; ++rank)
        values.push_back(Json::parse(first + begin(rank), first + end[rank]));
    return values;
}

void Ranks::wait_for_all() {
    at::Tensor one = at::ones({1});
    sum(one);
}

Ranks::GradientSum::GradientSum(const std::vector<at::Tensor>& parameters, Ranks& ranks)
    : spec_(ranks.spec_) {
    if (!ranks.group_) return;
    auto [buckets, limits] = c10d::compute_bucket_assignment_by_size(
        parameters, {first_bucket_bytes, bucket_bytes}, std::vector<bool>(parameters.size(), false));
    std::reverse(buckets.begin(), buckets.end());  // gradients come from the last layer to the first
    reducer_ = std::make_unique<c10d::Reducer>(parameters, buckets, ranks.group_,
                                               std::vector<bool>(parameters.size(), false), bucket_bytes,
                                               false, false, std::unordered_map<std::size_t, std::string>{},
                                               first_bucket_bytes, false, false, std::vector<std::int64_t>{});
    reducer_->register_comm_hook(std::make_unique<SumHook>(ranks.group_));
}

Ranks::GradientSum::~GradientSum() = default;

void Ranks::GradientSum::backward(const at::Tensor& loss) {
    if (!reducer_) {
        loss.backward();
        return;
    }
    try {
        reducer_->prepare_for_backward({loss});
        loss.backward();
    } catch (const std::exception& error) {
        if (is_out_of_memory(error)) throw;
        throw_lost(spec_, error);
    }
}

}  // namespace bigbird::training
