// SPDX-License-Identifier: Apache-2.0
#include "support/testing.hpp"
#include "unit/attention/cuda_cases.hpp"

#include "bigbird/attention/cuda/kernel_library.hpp"
#include "bigbird/core/error.hpp"

using namespace bigbird;
using bigbird::testing::CudaCase;

DOCTEST_TEST_CASE("cuda_attention: tensors that the kernels cannot take are refused") {
    const CudaCase c{.pattern = "bigbird"};
    const attention::LayerLayout layout = layout_of(c);
    const testing::AttentionInputs inputs = inputs_of(c, at::kFloat);
    const std::string message = testing::message_of<ConfigError>(
        [&] { attention::cuda_attention(inputs.q, inputs.k, inputs.v, inputs.key_mask, layout); });
    DOCTEST_CHECK(message ==
                  "the attention backend fused needs bfloat16 or float16 on a GPU: choose blocked");
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
#else
    const std::string message = testing::message_of<DeviceError>([] { attention::cuda::kernel_library(); });
    DOCTEST_CHECK(message.find("the attention backend fused needs bigbird-cuda.so beside the program") == 0);
#endif
}
