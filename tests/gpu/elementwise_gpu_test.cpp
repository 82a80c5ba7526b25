// SPDX-License-Identifier: Apache-2.0
#include "support/testing.hpp"
#include "unit/model/layers/cuda_elementwise_cases.hpp"

#include "bigbird/attention/cuda/host/kernel_library.hpp"
#include "bigbird/model/device/device.hpp"

#include <c10/core/impl/VirtualGuardImpl.h>

using namespace bigbird;
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
        for (int j = 0; j < 20; ++j) {
            on_gpu = on_gpu.neg();
        }
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
