// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/system/device_fault.hpp"

#include <array>
#include <string_view>

namespace bigbird {

namespace {

constexpr std::array signs{"CUDA error",    "CUDA driver error", "CUBLAS_STATUS_", "CUSOLVER_STATUS_",
                           "CUDNN_STATUS_", "cuDNN error",       "NCCL error",     "CUDA kernel errors"};

bool names_device(std::string_view text) {
    for (const char* sign : signs)
        if (text.find(sign) != std::string_view::npos) return true;
    return false;
}

}  // namespace

std::optional<std::string> device_fault(const std::exception& error) {
    const std::string text = error.what();
    if (!names_device(text)) return {};
    const std::string first = text.substr(0, text.find('\n'));
    return "the GPU failed: " + first.substr(0, first.find_last_not_of(". ") + 1) +
           "; 'bigbird-dna info --program' and nvidia-smi say what is there, and a second run may go on "
           "from the last checkpoint";
}

}  // namespace bigbird
