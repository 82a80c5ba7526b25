// SPDX-License-Identifier: Apache-2.0
// The processes that train one run together, through LibTorch's c10d: Gloo between CPUs, NCCL between GPUs.
// Every call is collective: all ranks make the same ones in the same order. One thread.
#pragma once

#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/training/ranks/rank_spec.hpp"

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

namespace c10d {
class ProcessGroup;
class Reducer;
}  // namespace c10d

namespace bigbird::training {

class Ranks {
public:
    /// Only this process; every call does nothing.
    Ranks();
    /// Connects to the other ranks and returns when all are connected. Throws DeviceError if they do not
    /// connect or cannot be reached, or if this build lacks NCCL.
    Ranks(const RankSpec& spec, const at::Device& device);
    ~Ranks();
    Ranks(const Ranks&) = delete;
    Ranks& operator=(const Ranks&) = delete;

    const RankSpec& spec() const { return spec_; }
    int rank() const { return spec_.rank; }
    int size() const { return spec_.size; }
    bool is_first() const { return spec_.is_first(); }

    // All of the following functions throw DeviceError if another rank is lost, and Stopped after a stop
    // signal.

    /// Sums a contiguous tensor over all ranks, in place; all ranks get the same bits. A group of GPUs also
    /// accepts a CPU tensor.
    void sum(at::Tensor& values);
    /// Overwrites the tensor with rank 0's.
    void broadcast(at::Tensor& values);
    /// Returns rank 0's.
    Json broadcast(const Json& value);
    /// Returns what each rank gave, by rank.
    std::vector<Json> gather(const Json& value);
    /// Waits for all.
    void wait_for_all();

    /// Sums the gradients of parameters while backward() runs (c10d's Reducer: buckets, overlapping with the
    /// computation).
    class GradientSum {
    public:
        /// Every loss must depend on all of `parameters`, and on no others. `ranks` must outlive this.
        GradientSum(const std::vector<at::Tensor>& parameters, Ranks& ranks);
        ~GradientSum();
        GradientSum(const GradientSum&) = delete;
        GradientSum& operator=(const GradientSum&) = delete;
        /// Calls loss.backward() for the step's last micro-batch. For earlier micro-batches, call
        /// loss.backward() directly, which only adds to .grad. Throws DeviceError if another rank is lost.
        void backward(const at::Tensor& loss);

    private:
        RankSpec spec_;
        std::unique_ptr<c10d::Reducer> reducer_;
    };

private:
    template <typename Start>
    void exchange(at::Tensor& values, const Start& start);

    RankSpec spec_;
    at::Device device_ = at::kCPU;
    c10::intrusive_ptr<c10d::ProcessGroup> group_;  // null for a single process
};

}  // namespace bigbird::training
