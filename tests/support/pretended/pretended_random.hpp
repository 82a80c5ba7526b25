// SPDX-License-Identifier: Apache-2.0
// The pretended device's random numbers: those of model/layers/dropout.cpp on the CPU, so that a network
// trained there with dropout can be compared. A second way of writing them down, on purpose.
#pragma once

#include <ATen/core/Generator.h>
#include <c10/core/GeneratorImpl.h>

#include <cstdint>

namespace bigbird::testing {

/// Nothing but a seed: every draw begins afresh.
struct SeedGenerator final : c10::GeneratorImpl {
    explicit SeedGenerator(c10::Device device)
        : GeneratorImpl(device, c10::DispatchKeySet(c10::DispatchKey::PrivateUse1)) {}
    void set_current_seed(std::uint64_t value) override { seed_ = value; }
    std::uint64_t current_seed() const override { return seed_; }
    std::uint64_t seed() override { return seed_; }
    void set_offset(std::uint64_t) override {}
    std::uint64_t get_offset() const override { return 0; }
    void set_state(const c10::TensorImpl&) override {}
    c10::intrusive_ptr<c10::TensorImpl> get_state() const override { return {}; }
    SeedGenerator* clone_impl() const override {
        auto* copy = new SeedGenerator(device_);
        copy->seed_ = seed_;
        return copy;
    }

private:
    std::uint64_t seed_ = 0;
};

/// 32 random bits of element `index` of a stream: SplitMix64's value index / 2, its lower half first.
inline std::uint32_t bits_of_element(std::uint64_t stream, std::uint64_t index) {
    std::uint64_t value = stream + 0x9E3779B97F4A7C15ULL * (index / 2 + 1);
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9ULL;
    value = (value ^ (value >> 27)) * 0x94D049BB133111EBULL;
    value ^= value >> 31;
    return static_cast<std::uint32_t>(index % 2 == 0 ? value : value >> 32);
}

}  // namespace bigbird::testing
