// SPDX-License-Identifier: Apache-2.0
#include "gpu/cuda_runtime.hpp"
#include "support/testing.hpp"
#include "unit/model/layers/fused_network_cases.hpp"

#include "bigbird/model/device/device.hpp"

using namespace bigbird;
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
