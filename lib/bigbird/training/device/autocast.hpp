// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/core/error.hpp"
#include "bigbird/core/system/free_memory.hpp"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <exception>
#include <string>

namespace bigbird::training {

/// The type of the network's matrix products; parameters, moments and losses are always float32.
enum class ComputeType : std::uint8_t { fp32, bf16 };

/// "fp32", "bf16", or "auto": bf16 on a GPU, fp32 on a CPU. bf16 becomes fp32 on a CPU without instructions
/// for it (model/device/device.hpp). Throws ConfigError for another word.
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

// Measures a device: memory in use and the speed of matrix products.

/// Bytes: the most that this process has had on a CPU (resident), or that LibTorch has had allocated on a
/// GPU.
std::int64_t peak_memory(const at::Device& device);

/// Floating-point operations per second of one large matrix product on the device, the best of a few; takes a
/// tenth of a second. `mfu` is a share of this measured rate, not of the data sheet's.
double matrix_product_rate(ComputeType compute, const at::Device& device);

// The memory of a device, and the message when it runs out.

/// Bytes that this process may still take of the processor's memory (free_memory()) or the GPU's; infinity
/// where a GPU's is unknown.
double available_memory(const at::Device& device);

/// Calls `body`. If memory runs out there, throws a DeviceError with this sentence.
template <typename Body>
auto with_memory_advice(const std::string& sentence, Body&& body) {
    try {
        return body();
    } catch (const Error&) {
        throw;
    } catch (const std::exception& error) {
        if (is_out_of_memory(error)) throw DeviceError(sentence);
        throw;
    }
}

/// From now on freed large blocks are returned to the system at once, which costs some time. Otherwise the C
/// library keeps about as much memory as recomputing saves.
void keep_little_memory();

}  // namespace bigbird::training
