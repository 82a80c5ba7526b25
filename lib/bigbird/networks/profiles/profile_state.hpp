// SPDX-License-Identifier: Apache-2.0
// What a ProfileNet holds: the parameters of its parts, and the form in which our kernels take them.
#pragma once

#include "bigbird/networks/profiles/packed_part.hpp"
#include "bigbird/networks/profiles/profile_network.hpp"
#include "bigbird/networks/profiles/workers.hpp"

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace bigbird::networks {

/// Parameters of a layer, of which a network of its trunk has weight and bias, or the others.
struct LayerTensors {
    at::Tensor weight, bias;
    at::Tensor taps, linear1, linear2;
};
struct PartTensors {
    ProfileShape shape;
    at::Tensor stem, stem_bias;
    std::vector<LayerTensors> layers;
    at::Tensor profile, profile_bias, counts, counts_bias;
};

/// The readable twin: heads of letters (windows, input, 4).
ProfileHeads twin_heads(const PartTensors& part, const at::Tensor& letters);

struct ProfileNetImpl::State {
    std::vector<PartTensors> parts;

    /// Whether our kernels compute it: float32 on a CPU.
    bool has_kernels() const;
    /// The parts for our kernels, packed again after a parameter was changed. Thread-safe.
    Parts packed();

    Spare<ScoredWindows> scored;
    Spare<KeptWindow> kept;

private:
    std::mutex mutex_;
    std::vector<std::uint64_t> packed_from_;  ///< of each parameter
    Parts packed_;
};

}  // namespace bigbird::networks
