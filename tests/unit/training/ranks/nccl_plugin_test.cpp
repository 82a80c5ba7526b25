// SPDX-License-Identifier: Apache-2.0
#include "bigbird/training/ranks/nccl_plugin.hpp"

#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

using namespace bigbird;

DOCTEST_TEST_CASE("nccl_plugin: a program without the library beside it says what is missing") {
    const std::string message = testing::message_of<DeviceError>(
        [] { training::open_nccl({}, 0, 1, at::Device(at::kCUDA, 0), "/nonexistent/bigbird-nccl.so"); });
    DOCTEST_CHECK(message.find("several GPUs need bigbird-nccl.so beside the program") == 0);
}
