// SPDX-License-Identifier: Apache-2.0
// The memory of a device, and the message when it runs out.
#pragma once

#include "bigbird/core/error.hpp"
#include "bigbird/core/system/free_memory.hpp"

#include <ATen/core/Tensor.h>

#include <exception>
#include <string>

namespace bigbird::training {

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
