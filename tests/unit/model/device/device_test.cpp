// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/device/device.hpp"

#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

using namespace bigbird::model;
using bigbird::testing::message_of;

DOCTEST_TEST_CASE("device: cpu is there, other words are refused") {
    DOCTEST_CHECK(open_device("cpu").is_cpu());
    for (const char* word : {"gpu", "cuda:", "cuda:x", "cuda:-1", "cuda:1x", ""}) {
        DOCTEST_CHECK(message_of<bigbird::ConfigError>([&] { open_device(word); }) ==
                      "--device must be auto, cpu, cuda or cuda:N, not '" + std::string(word) + "'");
    }
}

DOCTEST_TEST_CASE("device: a GPU that is not there is an error of its own") {
    DOCTEST_CHECK_THROWS_AS(open_device("cuda:1000"), bigbird::DeviceError);
}

DOCTEST_TEST_CASE("device: auto always finds something") {
    const at::Device device = open_device("auto");
    DOCTEST_CHECK((device.is_cpu() || device.is_cuda()));
}

DOCTEST_TEST_CASE("device: what goes to the CPU and comes from it is the tensor itself") {
    const at::Tensor x = at::arange(5, at::kFloat).requires_grad_();
    DOCTEST_CHECK(copy_to_device(x, at::kCPU).is_same(x));
    HostCopy arriving(x);
    DOCTEST_CHECK(at::equal(arriving.get(), x));
    DOCTEST_CHECK(!arriving.get().requires_grad());
}

DOCTEST_TEST_CASE("device: compute threads are set, 0 means all") {
    set_compute_threads(1);
    DOCTEST_CHECK(at::get_num_threads() == 1);
    set_compute_threads(0);
    DOCTEST_CHECK(at::get_num_threads() >= 1);
}
