// SPDX-License-Identifier: Apache-2.0
#include "bigbird/attention/cuda/kernels.hpp"

const char* bigbird_cuda_architectures() {
    return BIGBIRD_CUDA_ARCHITECTURES;
}
