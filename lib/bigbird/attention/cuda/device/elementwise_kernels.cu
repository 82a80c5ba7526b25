// SPDX-License-Identifier: Apache-2.0
// The kernels between the matrix products.
#include "bigbird/attention/cuda/device/elementwise_launches.hpp"
#include "bigbird/attention/cuda/device/launches.cuh"
#include "bigbird/attention/cuda/device/ptx_isa.cuh"

namespace bigbird::attention::cuda {

int norm_forward(const NormArguments& a, void* stream) {
    if (!is_valid(a)) {
        return cudaErrorInvalidValue;
    }
    Launches launches(stream);
    DeviceLauncher<PtxIsa> launcher{launches};
    a.element == Element::bf16 ? launch_norm_forward<Bf16>(launcher, a)
                               : launch_norm_forward<Fp16>(launcher, a);
    return launches.error();
}

int norm_backward(const NormArguments& a, void* stream) {
    if (!is_valid(a)) {
        return cudaErrorInvalidValue;
    }
    Launches launches(stream);
    DeviceLauncher<PtxIsa> launcher{launches};
    a.element == Element::bf16 ? launch_norm_backward<Bf16>(launcher, a)
                               : launch_norm_backward<Fp16>(launcher, a);
    return launches.error();
}

int gelu_forward(const GeluArguments& a, void* stream) {
    if (!is_valid(a)) {
        return cudaErrorInvalidValue;
    }
    Launches launches(stream);
    DeviceLauncher<PtxIsa> launcher{launches};
    a.element == Element::bf16 ? launch_gelu_forward<Bf16>(launcher, a)
                               : launch_gelu_forward<Fp16>(launcher, a);
    return launches.error();
}

int gelu_backward(const GeluArguments& a, void* stream) {
    if (!is_valid(a)) {
        return cudaErrorInvalidValue;
    }
    Launches launches(stream);
    DeviceLauncher<PtxIsa> launcher{launches};
    a.element == Element::bf16 ? launch_gelu_backward<Bf16>(launcher, a)
                               : launch_gelu_backward<Fp16>(launcher, a);
    return launches.error();
}

int softmax_gradient(const SoftmaxArguments& a, void* stream) {
    if (!is_valid(a)) {
        return cudaErrorInvalidValue;
    }
    Launches launches(stream);
    DeviceLauncher<PtxIsa> launcher{launches};
    a.element == Element::bf16 ? launch_softmax_gradient<Bf16>(launcher, a)
                               : launch_softmax_gradient<Fp16>(launcher, a);
    return launches.error();
}

}  // namespace bigbird::attention::cuda
