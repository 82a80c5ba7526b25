// SPDX-License-Identifier: Apache-2.0
// The CUDA kernels between the matrix products, run thread by thread on the CPU (support/simt.hpp) and held
// against LibTorch and model::dropout() in fp64.
#include "support/emulated_kernels.hpp"
#include "support/testing.hpp"
#include "unit/model/layers/cuda_elementwise_cases.hpp"

using namespace bigbird;
using bigbird::testing::as_near_as_torch;
using bigbird::testing::EmulatedLauncher;
using bigbird::testing::GeluInputs;
using bigbird::testing::NormInputs;

namespace {

namespace cuda = attention::cuda;

template <typename Scalar>
void check_norm(std::int64_t columns, at::ScalarType type) {
    DOCTEST_CAPTURE(columns);
    // The shortest with more rows than a grid's warps.
    const NormInputs inputs(columns == 8 ? 2740 : 5, columns, type);
    const testing::NormTensors tensors(inputs, type, 2, at::kCPU);
    const cuda::NormArguments a = tensors.arguments();
    EmulatedLauncher launcher;
    cuda::launch_norm_forward<Scalar>(launcher, a);
    cuda::launch_norm_backward<Scalar>(launcher, a);
    const testing::Results exact = norm_by_torch(inputs, at::kDouble), found = tensors.results();
    DOCTEST_CHECK(as_near_as_torch(found, exact, norm_by_torch(inputs, type)));
    DOCTEST_CHECK(at::equal(found[1] == 0, exact[1] == 0));  // the same elements are dropped
}

template <typename Scalar>
void check_gelu(std::int64_t columns, at::ScalarType type) {
    DOCTEST_CAPTURE(columns);
    const GeluInputs inputs(7, columns, type);
    const testing::GeluTensors tensors(inputs, type, 3, at::kCPU);
    const cuda::GeluArguments a = tensors.arguments();
    EmulatedLauncher launcher;
    cuda::launch_gelu_forward<Scalar>(launcher, a);
    cuda::launch_gelu_backward<Scalar>(launcher, a);
    DOCTEST_CHECK(
        as_near_as_torch(tensors.results(), gelu_by_torch(inputs, at::kDouble), gelu_by_torch(inputs, type)));
}

template <typename Scalar>
void check_loss(std::int64_t classes, at::ScalarType type) {
    DOCTEST_CAPTURE(classes);
    const testing::LossInputs inputs(6, classes, type);
    const testing::Results exact = loss_by_torch(inputs, at::kDouble), by_torch = loss_by_torch(inputs, type);
    EmulatedLauncher launcher;
    const testing::LossTensors kept(inputs, type, at::kCPU), found(inputs, type, at::kCPU);
    cuda::launch_softmax_gradient<Scalar>(launcher, kept.arguments(false));
    cuda::launch_softmax_gradient<Scalar>(launcher, found.arguments(true));
    DOCTEST_CHECK(as_near_as_torch(found.results(), exact, by_torch));
    DOCTEST_CHECK(at::equal(found.results()[2], exact[2]));
    DOCTEST_CHECK(at::equal(kept.logits, inputs.logits.to(type)));
    DOCTEST_CHECK(at::equal(kept.nats, found.nats));
}

}  // namespace

DOCTEST_TEST_CASE("cuda_elementwise: loss and its gradient in place, emulated, as near fp64 as LibTorch") {
    for (const std::int64_t classes : {8, 56, 1000, 4096, 4104})
        check_loss<cuda::Bf16>(classes, at::kBFloat16);
    check_loss<cuda::Fp16>(1000, at::kHalf);
}

DOCTEST_TEST_CASE("cuda_elementwise: norm, residual and dropout, emulated, as near fp64 as LibTorch") {
    for (const std::int64_t columns : {8, 128, 256, 768, 1000, 1024})
        check_norm<cuda::Bf16>(columns, at::kBFloat16);
    check_norm<cuda::Fp16>(768, at::kHalf);
}

DOCTEST_TEST_CASE("cuda_elementwise: bias and gelu, emulated, as near fp64 as LibTorch") {
    for (const std::int64_t columns : {8, 512, 1032, 3072})
        check_gelu<cuda::Bf16>(columns, at::kBFloat16);
    check_gelu<cuda::Fp16>(512, at::kHalf);
}

DOCTEST_TEST_CASE("cuda_elementwise: parts are added, however many, in one or two results") {
    for (const std::int64_t parts : {1, 15, 16, 17, 100, 528}) {
        for (const std::int64_t columns : {8, 40, 96}) {
            DOCTEST_CAPTURE(parts);
            DOCTEST_CAPTURE(columns);
            const at::Tensor x = testing::draw({parts, 2 * columns}, 1, at::kFloat).to(at::kFloat);
            const at::Tensor both = at::full({2 * columns}, std::nan(""), at::kFloat), one = both.clone();
            const auto* from = x.const_data_ptr<float>();
            auto *first = both.mutable_data_ptr<float>(), *alone = one.mutable_data_ptr<float>();
            const auto count = static_cast<std::int32_t>(parts), width = static_cast<std::int32_t>(columns);
            EmulatedLauncher launcher;
            cuda::launch_sum_parts(launcher, {from, count, width, first, first + columns});
            cuda::launch_sum_parts(launcher, {from, count, 2 * width, alone, nullptr});
            DOCTEST_CHECK(testing::difference(both.to(at::kDouble), x.to(at::kDouble).sum(0)) < 1e-4);
            DOCTEST_CHECK(testing::identical(one, both));
        }
    }
}
