// SPDX-License-Identifier: Apache-2.0
#include "support/emulated_kernels.hpp"
#include "support/testing.hpp"
#include "unit/attention/cuda/device/cuda_cases.hpp"

#include "bigbird/attention/cuda/host/kernel_library.hpp"
#include "bigbird/core/error.hpp"

using namespace bigbird;
using bigbird::testing::CudaCase;

DOCTEST_TEST_CASE("cuda_attention: tensors that the kernels cannot take are refused") {
    const CudaCase c{.pattern = "bigbird"};
    const attention::LayerLayout layout = layout_of(c);
    const testing::AttentionInputs inputs = inputs_of(c, at::kFloat);
    const std::string message = testing::message_of<ConfigError>([&] {
        attention::cuda_attention(inputs.q, inputs.k, inputs.v, inputs.key_mask, layout,
                                  attention::cuda::KernelSet::general);
    });
    DOCTEST_CHECK(message ==
                  "the attention backend fused needs bfloat16 or float16 on a GPU: choose blocked");
}

DOCTEST_TEST_CASE("cuda_attention: LibTorch's side of the kernels, emulated") {
    // Neither contiguous nor with strides that the kernels can read.
    const CudaCase c{.pattern = "bigbird", .blocks = 7, .samples = 2, .padded = 70};
    const attention::LayerLayout layout = layout_of(c);
    const testing::AttentionInputs inputs = inputs_of(c, at::kBFloat16);
    const testing::AttentionResults by_torch = run_reference(layout, inputs, at::kBFloat16),
                                    exact = run_reference(layout, inputs, at::kDouble);
    const attention::cuda::EmulatedKernels emulation(testing::emulated_kernels());
    for (const attention::Backend backend : {attention::Backend::fused, attention::Backend::fused_hopper}) {
        const auto leaf = [](const at::Tensor& x) {
            return x.to(at::kBFloat16, false, true).requires_grad_();
        };
        const at::Tensor q = leaf(inputs.q), k = leaf(inputs.k), odd = at::constant_pad_nd(inputs.v, {0, 1});
        const at::Tensor v = leaf(odd);
        const at::Tensor out =
            attention::sparse_attention(q, k, v.narrow(3, 0, 64), inputs.key_mask, layout, backend);
        out.backward(inputs.d_out.to(at::kBFloat16));
        check_errors({out.detach(), q.grad(), k.grad(), v.grad().narrow(3, 0, 64)}, exact, by_torch);
    }
}

DOCTEST_TEST_CASE("cuda_attention: automatic takes the best kernels there are, for 16-bit numbers only") {
    const CudaCase c{.pattern = "bigbird", .blocks = 13};
    const attention::LayerLayout layout = layout_of(c);
    const testing::AttentionInputs inputs = inputs_of(c, at::kBFloat16);
    const auto attend = [&](attention::Backend backend, at::ScalarType type) {
        return attention::sparse_attention(inputs.q.to(type), inputs.k.to(type), inputs.v.to(type),
                                           inputs.key_mask, layout, backend);
    };
    using attention::Backend;
    const at::Tensor on_cpu = attend(Backend::automatic, at::kFloat);
    DOCTEST_CHECK(!attention::best_kernels(at::kCPU, at::kBFloat16, 64));
    attention::cuda::KernelTable general = testing::emulated_kernels();
    general.runs = [](attention::cuda::KernelSet set) { return set == attention::cuda::KernelSet::general; };
    const attention::cuda::EmulatedKernels emulation(general);
    DOCTEST_CHECK(
        (attention::best_kernels(at::kCPU, at::kBFloat16, 64) == attention::cuda::KernelSet::general));
    DOCTEST_CHECK(!attention::best_kernels(at::kCPU, at::kBFloat16, 32));
    DOCTEST_CHECK(
        testing::identical(attend(Backend::automatic, at::kBFloat16), attend(Backend::fused, at::kBFloat16)));
    DOCTEST_CHECK(testing::identical(attend(Backend::automatic, at::kFloat), on_cpu));
}

DOCTEST_TEST_CASE(
    "cuda_attention: only those gradients are computed that are asked for, and they are the same") {
    const CudaCase c{.pattern = "bigbird", .blocks = 9, .heads = 1, .padded = 70};
    const attention::LayerLayout layout = layout_of(c);
    const testing::AttentionInputs inputs = inputs_of(c, at::kBFloat16);
    const attention::cuda::EmulatedKernels emulation(testing::emulated_kernels());
    for (const attention::Backend backend : {attention::Backend::fused, attention::Backend::fused_hopper}) {
        const auto gradients = [&](bool of_queries, bool of_keys) {
            const auto leaf = [](const at::Tensor& x, bool is_wanted) {
                return x.to(at::kBFloat16, false, true).requires_grad_(is_wanted);
            };
            const at::Tensor q = leaf(inputs.q, of_queries), k = leaf(inputs.k, of_keys),
                             v = leaf(inputs.v, of_keys);
            attention::sparse_attention(q, k, v, inputs.key_mask, layout, backend)
                .backward(inputs.d_out.to(at::kBFloat16));
            return std::vector<at::Tensor>{q.grad(), k.grad(), v.grad()};
        };
        const auto all = gradients(true, true), of_queries = gradients(true, false),
                   of_keys = gradients(false, true);
        DOCTEST_CHECK(testing::identical(of_queries[0], all[0]));
        DOCTEST_CHECK(!of_queries[1].defined());
        DOCTEST_CHECK(!of_keys[0].defined());
        DOCTEST_CHECK(testing::identical(of_keys[1], all[1]));
        DOCTEST_CHECK(testing::identical(of_keys[2], all[2]));
    }
}

DOCTEST_TEST_CASE("cuda_attention: the kernels' library opens without a GPU, and its errors have words") {
#if defined(BIGBIRD_HAS_CUDA_KERNELS)
    const attention::cuda::KernelTable& kernels = attention::cuda::kernel_library();
    DOCTEST_CHECK(kernels.supports(attention::cuda::KernelSet::hopper, 64));
    DOCTEST_CHECK(!kernels.supports(attention::cuda::KernelSet::general, 7));
    attention::cuda::Arguments arguments;
    arguments.head_dim = 7;
    const int error = kernels.forward(arguments, nullptr);
    DOCTEST_CHECK(std::string(kernels.error_text(error)) == "invalid argument");
    DOCTEST_CHECK(attention::cuda::kernel_architectures().find("sm_90a") != std::string::npos);
#else
    const std::string message = testing::message_of<DeviceError>([] { attention::cuda::kernel_library(); });
    DOCTEST_CHECK(message.find("the attention backend fused needs bigbird-cuda.so beside the program") == 0);
#endif
}
