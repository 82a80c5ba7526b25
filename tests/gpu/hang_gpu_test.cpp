// SPDX-License-Identifier: Apache-2.0
// A kernel that waits for ever is ended, and says where it waited
// (attention/cuda/device/hopper/hopper_kernels.cu).
#include "gpu/cuda_runtime.hpp"
#include "gpu/hang.hpp"
#include "support/testing.hpp"

#include "bigbird/attention/cuda/host/kernel_library.hpp"
#include "bigbird/model/device/device.hpp"

#include <c10/core/impl/VirtualGuardImpl.h>
#include <sys/wait.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>

using namespace bigbird;

int testing::wait_for_ever() {
    const at::Device device = model::open_device("cuda");
    void* stream = c10::impl::VirtualGuardImpl(device.type()).getStream(device).native_handle();
    const int error = attention::cuda::kernel_library().hang(stream);
    return error != 0 ? error : runtime<int (*)(void*)>("cudaStreamSynchronize")(stream);
}

namespace {

struct Ended {
    int code = -1;
    std::string printed;
};

Ended run_program(const std::string& command) {
    std::FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
    DOCTEST_REQUIRE(pipe != nullptr);
    Ended ended;
    char text[256];
    while (std::fgets(text, sizeof(text), pipe) != nullptr)
        ended.printed += text;
    const int status = ::pclose(pipe);
    ended.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return ended;
}

}  // namespace

DOCTEST_TEST_CASE(
    "gpu hang: a kernel that waits for ever is ended within seconds, and says where it waited") {
    if (!testing::is_hopper(model::open_device("cuda"))) {
        std::puts("  not of compute capability 9.0: nothing to run");
        return;
    }
    const auto begin = std::chrono::steady_clock::now();
    const Ended ended =
        run_program(std::filesystem::read_symlink("/proc/self/exe").string() + " --wait-for-ever");
    const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - begin;
    std::printf("  ended after %.1f s:\n%s", waited.count(), ended.printed.c_str());
    DOCTEST_CHECK(ended.code == 1);
    DOCTEST_CHECK(ended.printed.find("waited too long for step_full 1 of team 0: its copies never arrived") !=
                  std::string::npos);
    DOCTEST_CHECK(waited.count() < 35);
}
