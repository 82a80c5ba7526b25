// SPDX-License-Identifier: Apache-2.0
// The CUDA kernels between the matrix products, run thread by thread on the CPU (support/simt.hpp) and held
// against LibTorch and model::dropout() in fp64.
#include "support/simt.hpp"
#include "support/testing.hpp"
#include "unit/model/cuda_elementwise_cases.hpp"

#include "bigbird/attention/cuda/elementwise.hpp"

using namespace bigbird;
using bigbird::testing::as_near_as_torch;
using bigbird::testing::GeluInputs;
using bigbird::testing::NormInputs;
using bigbird::testing::SimtMachine;

namespace {

namespace cuda = attention::cuda;

void launch(int blocks, int shared_bytes, const auto& kernel) {
    testing::run_grid(blocks, cuda::threads_per_block, static_cast<std::size_t>(shared_bytes), 1, kernel);
}

template <typename Scalar>
void check_norm(std::int64_t columns, at::ScalarType type) {
    DOCTEST_CAPTURE(columns);
    const NormInputs inputs(5, columns, type);
    const testing::NormTensors tensors(inputs, type, 2, at::kCPU);
    const cuda::NormArguments a = tensors.arguments();
    launch(2, 0, [&](const SimtMachine& m) { cuda::norm_forward_kernel<Scalar>(m, a); });
    launch(a.part_count, cuda::norm_backward_shared(a.columns),
           [&](const SimtMachine& m) { cuda::norm_backward_kernel<Scalar>(m, a); });
    launch(2 * a.columns / cuda::threads_per_block + 1, 0, [&](const SimtMachine& m) {
        cuda::sum_parts_kernel(m, a.parts, a.part_count, a.columns, a.d_weight, a.d_bias);
    });
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
    const int strips = cuda::gelu_strips(a.columns);
    launch(2 * strips, 0, [&](const SimtMachine& m) { cuda::gelu_forward_kernel<Scalar>(m, a); });
    launch(a.part_count * strips, 0, [&](const SimtMachine& m) { cuda::gelu_backward_kernel<Scalar>(m, a); });
    launch(a.columns / cuda::threads_per_block + 1, 0, [&](const SimtMachine& m) {
        cuda::sum_parts_kernel(m, a.parts, a.part_count, a.columns, a.d_bias, static_cast<float*>(nullptr));
    });
    DOCTEST_CHECK(
        as_near_as_torch(tensors.results(), gelu_by_torch(inputs, at::kDouble), gelu_by_torch(inputs, type)));
}

}  // namespace

DOCTEST_TEST_CASE("cuda_elementwise: norm, residual and dropout, emulated, as near fp64 as LibTorch") {
    for (const std::int64_t columns : {8, 128, 256, 768, 1000, 1024}) {
        check_norm<cuda::Bf16>(columns, at::kBFloat16);
    }
    check_norm<cuda::Fp16>(768, at::kHalf);
}

DOCTEST_TEST_CASE("cuda_elementwise: bias and gelu, emulated, as near fp64 as LibTorch") {
    for (const std::int64_t columns : {8, 512, 1032, 3072}) {
        check_gelu<cuda::Bf16>(columns, at::kBFloat16);
    }
    check_gelu<cuda::Fp16>(512, at::kHalf);
}
