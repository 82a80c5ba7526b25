// SPDX-License-Identifier: Apache-2.0
// The kernels between the matrix products.
#include "bigbird/attention/cuda/device/elementwise_launches.hpp"
#include "bigbird/attention/cuda/device/launches.cuh"
#include "bigbird/attention/cuda/device/ptx_isa.cuh"

namespace bigbird::attention::cuda {

namespace {

/// Calls launch(launcher, element type) where the arguments are valid.
template <typename Arguments, typename Launch>
int launched(const Arguments& a, void* stream, const Launch& launch) {
    if (!is_valid(a)) return cudaErrorInvalidValue;
    Launches launches(stream);
    DeviceLauncher<PtxIsa> launcher{launches};
    a.element == Element::bf16 ? launch(launcher, Bf16{}) : launch(launcher, Fp16{});
    return launches.error();
}

}  // namespace

int norm_forward(const NormArguments& a, void* stream) {
    return launched(a, stream, [&]<typename S>(auto& launcher, S) { launch_norm_forward<S>(launcher, a); });
}

int norm_backward(const NormArguments& a, void* stream) {
    return launched(a, stream, [&]<typename S>(auto& launcher, S) { launch_norm_backward<S>(launcher, a); });
}

int gelu_forward(const GeluArguments& a, void* stream) {
    return launched(a, stream, [&]<typename S>(auto& launcher, S) { launch_gelu_forward<S>(launcher, a); });
}

int gelu_backward(const GeluArguments& a, void* stream) {
    return launched(a, stream, [&]<typename S>(auto& launcher, S) { launch_gelu_backward<S>(launcher, a); });
}

int softmax_gradient(const SoftmaxArguments& a, void* stream) {
    return launched(a, stream, [&]<typename S>(auto& launcher, S) { launch_softmax_gradient<S>(launcher, a); });
}

}  // namespace bigbird::attention::cuda
