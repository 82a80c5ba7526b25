// SPDX-License-Identifier: Apache-2.0
// The first contact: driver, LibTorch's CUDA libraries, a product, and our kernels' library.
// NCCL in a group of one: that the library opens, meets nobody and moves numbers. Several GPUs are compared
// with one by scripts/gpu-check, where there are several.
#include "gpu/cuda_runtime.hpp"
#include "support/testing.hpp"
#include "unit/model/layers/cuda_elementwise_cases.hpp"
#include "unit/model/layers/fused_network_cases.hpp"

#include "bigbird/attention/cuda/host/kernel_library.hpp"
#include "bigbird/core/system/program_file.hpp"
#include "bigbird/model/device/device.hpp"
#include "bigbird/training/ranks/rank_spec.hpp"

#include <ATen/ATen.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <torch/csrc/distributed/c10d/HashStore.hpp>

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

using bigbird::testing::as_near_as_torch;

namespace {

namespace cuda = attention::cuda;

const cuda::KernelTable& kernels() {
    return cuda::kernel_library();
}

void* stream_of(const at::Device& device) {
    return c10::impl::VirtualGuardImpl(device.type()).getStream(device).native_handle();
}

}  // namespace

DOCTEST_TEST_CASE("gpu elementwise: tensors come and go without waiting, and whole") {
    const at::Device device = model::open_device("cuda");
    for (int i = 0; i < 50; ++i) {
        const at::Tensor x = at::randn({1 << 18});
        at::Tensor on_gpu = model::copy_to_device(x, device);
        for (int j = 0; j < 20; ++j)
            on_gpu = on_gpu.neg();
        model::HostCopy arriving(on_gpu);
        on_gpu.zero_();
        DOCTEST_CHECK(at::equal(arriving.get(), x));
    }
}

DOCTEST_TEST_CASE("gpu elementwise: norm, residual and dropout, as near fp64 as LibTorch") {
    const at::Device device = model::open_device("cuda");
    for (const at::ScalarType type : {at::kBFloat16, at::kHalf}) {
        for (const std::int64_t columns : {128, 768, 1000, 1024}) {
            DOCTEST_CAPTURE(columns);
            const testing::NormInputs inputs(333, columns, type);
            const testing::NormTensors tensors(inputs, type, 264, device);
            DOCTEST_REQUIRE(kernels().norm_forward(tensors.arguments(), stream_of(device)) == 0);
            DOCTEST_REQUIRE(kernels().norm_backward(tensors.arguments(), stream_of(device)) == 0);
            const testing::Results exact = norm_by_torch(inputs, at::kDouble), found = tensors.results();
            DOCTEST_CHECK(as_near_as_torch(found, exact, norm_by_torch(inputs, type)));
            DOCTEST_CHECK(at::equal(found[1] == 0, exact[1] == 0));  // the CPU's dropout
        }
    }
}

DOCTEST_TEST_CASE("gpu elementwise: bias and gelu, as near fp64 as LibTorch") {
    const at::Device device = model::open_device("cuda");
    for (const at::ScalarType type : {at::kBFloat16, at::kHalf}) {
        for (const std::int64_t columns : {512, 1032, 3072}) {
            DOCTEST_CAPTURE(columns);
            const testing::GeluInputs inputs(777, columns, type);
            const testing::GeluTensors tensors(inputs, type, 88, device);
            DOCTEST_REQUIRE(kernels().gelu_forward(tensors.arguments(), stream_of(device)) == 0);
            DOCTEST_REQUIRE(kernels().gelu_backward(tensors.arguments(), stream_of(device)) == 0);
            DOCTEST_CHECK(as_near_as_torch(tensors.results(), gelu_by_torch(inputs, at::kDouble),
                                           gelu_by_torch(inputs, type)));
        }
    }
}

DOCTEST_TEST_CASE("gpu elementwise: loss and its gradient in place, as near fp64 as LibTorch") {
    const at::Device device = model::open_device("cuda");
    for (const at::ScalarType type : {at::kBFloat16, at::kHalf}) {
        for (const std::int64_t classes : {56, 4104, 32000}) {
            DOCTEST_CAPTURE(classes);
            const testing::LossInputs inputs(777, classes, type);
            const testing::LossTensors found(inputs, type, device);
            DOCTEST_REQUIRE(kernels().softmax_gradient(found.arguments(true), stream_of(device)) == 0);
            const testing::Results exact = loss_by_torch(inputs, at::kDouble);
            DOCTEST_CHECK(as_near_as_torch(found.results(), exact, loss_by_torch(inputs, type)));
            DOCTEST_CHECK(at::equal(found.results()[2], exact[2]));
        }
    }
}

using attention::Backend;

DOCTEST_TEST_CASE(
    "gpu network: by the kernels it trains as near fp64 as by LibTorch, with the CPU's dropout") {
    const at::Device device = model::open_device("cuda");
    const model::BigBirdConfig config = testing::kernel_config();
    const testing::Results exact = testing::train_once(config, Backend::blocked, at::kDouble);
    testing::Results by_torch;
    {
        const testing::InBf16 autocast;
        by_torch = testing::train_once(config, Backend::blocked, at::kFloat);
    }
    const testing::InBf16 autocast(at::kCUDA);
    for (const Backend backend : {Backend::fused, Backend::fused_hopper}) {
        if (backend == Backend::fused || testing::is_hopper(device)) {
            DOCTEST_CAPTURE(static_cast<int>(backend));
            DOCTEST_CHECK(testing::trains_as_near(testing::train_once(config, backend, at::kFloat, device),
                                                  exact, by_torch));
        }
    }
}

DOCTEST_TEST_CASE("gpu nccl: a group of one sums and broadcasts what it is given") {
    if (!std::filesystem::exists(program_file("bigbird-nccl.so"))) {
        DOCTEST_MESSAGE("this build has no bigbird-nccl.so");
        return;
    }
    const at::Device device = model::open_device("cuda:0");
    const auto backend = training::open_nccl(c10::make_intrusive<c10d::HashStore>(), 0, 1, device);
    for (const std::int64_t count : {1, 1000, 1 << 22}) {
        const at::Tensor wanted = at::arange(count, at::kFloat);
        std::vector<at::Tensor> tensors{wanted.to(device)};
        backend->allreduce(tensors)->wait();
        DOCTEST_CHECK(at::equal(tensors.front().cpu(), wanted));
        backend->broadcast(tensors)->wait();
        DOCTEST_CHECK(at::equal(tensors.front().cpu(), wanted));
    }
}
