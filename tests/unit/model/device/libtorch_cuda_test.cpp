// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/device/libtorch_cuda.hpp"

#include "support/testing.hpp"

using namespace bigbird;
using namespace bigbird::model;

DOCTEST_TEST_CASE("libtorch_cuda: the folder is where LibTorch's libraries are") {
    DOCTEST_CHECK(std::filesystem::exists(libtorch_folder() / "libtorch_cpu.so"));
    DOCTEST_CHECK(std::filesystem::exists(libtorch_folder() / "libc10.so"));
}

DOCTEST_TEST_CASE("libtorch_cuda: what is said of GPUs is made up once") {
    DOCTEST_CHECK(&gpu_facts() == &gpu_facts());
    DOCTEST_CHECK((gpu_facts().driver.load_error.empty() || gpu_facts().libtorch_cuda == 0));
}
