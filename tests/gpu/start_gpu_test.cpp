// SPDX-License-Identifier: Apache-2.0
// The first contact: driver, LibTorch's CUDA libraries, a product, and our kernels' library.
#include "gpu/cuda_runtime.hpp"
#include "support/testing.hpp"

#include "bigbird/attention/cuda/host/kernel_library.hpp"
#include "bigbird/model/device/device.hpp"

#include <ATen/ATen.h>

#include <cstdio>

using namespace bigbird;
using bigbird::testing::runtime;

DOCTEST_TEST_CASE("gpu start: the device opens and multiplies") {
    const at::Device device = model::open_device("cuda");
    int driver = 0, library = 0;
    DOCTEST_CHECK(runtime<int (*)(int*)>("cudaDriverGetVersion")(&driver) == 0);
    DOCTEST_CHECK(runtime<int (*)(int*)>("cudaRuntimeGetVersion")(&library) == 0);
    std::printf("  the driver is for CUDA %d.%d, the runtime is %d.%d\n", driver / 1000, driver % 1000 / 10,
                library / 1000, library % 1000 / 10);
    const at::Tensor x = at::arange(64, at::kFloat).view({8, 8});
    DOCTEST_CHECK(at::equal(x.to(device).mm(x.to(device)).cpu(), x.mm(x)));
}

DOCTEST_TEST_CASE("gpu start: the kernels' library opens") {
    const attention::cuda::KernelTable& kernels = attention::cuda::kernel_library();
    DOCTEST_CHECK(kernels.supports(attention::cuda::KernelSet::general, 64));
    DOCTEST_CHECK(kernels.supports(attention::cuda::KernelSet::hopper, 64));
}
