// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/device/libtorch_cuda.hpp"

#include "support/testing.hpp"

#include <algorithm>

using namespace bigbird;
using namespace bigbird::model;

DOCTEST_TEST_CASE("libtorch_cuda: the folder is where LibTorch's libraries are") {
    DOCTEST_CHECK(std::filesystem::exists(libtorch_folder() / "libtorch_cpu.so"));
    DOCTEST_CHECK(std::filesystem::exists(libtorch_folder() / "libc10.so"));
}

DOCTEST_TEST_CASE("libtorch_cuda: its CUDA part's libraries are named once each, the driver not among them") {
    const auto libraries = libtorch_cuda_libraries();
    DOCTEST_CHECK(libraries.empty() != std::filesystem::exists(libtorch_folder() / "libtorch_cuda.so"));
    const auto is_named = [&](const char* start) {
        return std::ranges::count_if(libraries,
                                     [&](const NeededLibrary& x) { return x.name.starts_with(start); });
    };
    if (!libraries.empty()) {
        DOCTEST_CHECK(is_named("libcublas.so.") == 1);
        DOCTEST_CHECK(is_named("libcusolver.so.") == 1);  // of the linear algebra
        DOCTEST_CHECK(is_named("libnvrtc.so.") == 1);     // of the run-time compiler
    }
    DOCTEST_CHECK(is_named("libcuda.so.1") == 0);
    DOCTEST_CHECK(is_named("libc.so") == 0);
}

DOCTEST_TEST_CASE("libtorch_cuda: what is said of GPUs is made up once") {
    DOCTEST_CHECK(&gpu_facts() == &gpu_facts());
    DOCTEST_CHECK((gpu_facts().driver.load_error.empty() || gpu_facts().libtorch_cuda == 0));
}
