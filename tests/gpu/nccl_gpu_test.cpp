// SPDX-License-Identifier: Apache-2.0
// NCCL in a group of one: that the library opens, meets nobody and moves numbers. Several GPUs are compared
// with one by scripts/gpu-check, where there are several.
#include "support/testing.hpp"

#include "bigbird/core/system/program_file.hpp"
#include "bigbird/model/device/device.hpp"
#include "bigbird/training/ranks/nccl_plugin.hpp"

#include <ATen/ATen.h>
#include <torch/csrc/distributed/c10d/HashStore.hpp>

using namespace bigbird;

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
