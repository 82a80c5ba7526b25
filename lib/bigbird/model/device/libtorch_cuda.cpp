// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/device/libtorch_cuda.hpp"

#include <ATen/Context.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <dlfcn.h>
#include <link.h>

#include <string>

namespace bigbird::model {

namespace fs = std::filesystem;

namespace {

/// The value of GpuFacts::libtorch_cuda. libtorch_cpu.so usually comes with CUDA's runtime library, which has
/// the version. Without it, the driver's version is assumed; opening the CUDA part shows whether that is
/// right.
int cuda_of_libtorch(int driver) {
    int version = libtorch_cuda_file().empty() ? 0 : driver;
    if (void* const symbol = ::dlsym(RTLD_DEFAULT, "cudaRuntimeGetVersion"); symbol != nullptr)
        reinterpret_cast<int (*)(int*)>(symbol)(&version);
    return version;
}

/// A package of the program may contain only LibTorch's CPU part (docs/install.md).
constexpr const char* no_cuda_part =
    "there is no libtorch_cuda.so beside libtorch_cpu.so: install the package torch 2.11 with CUDA and, "
    "where "
    "it is not found then, name its folder in BIGBIRD_TORCH";

std::string open_error() {
    if (::dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_GLOBAL) == nullptr) {
        const std::string error = ::dlerror();
        return libtorch_cuda_file().empty() ? no_cuda_part : error;
    }
    if (!at::globalContext().hasCUDA() || at::detail::getCUDAHooks().deviceCount() == 0)
        return "it sees no GPU, though the driver does";
    return {};
}

GpuFacts gather_facts() {
    GpuFacts facts;
    facts.driver = ask_cuda_driver();
    if (facts.driver.load_error.empty()) facts.libtorch_cuda = cuda_of_libtorch(facts.driver.version);
    if (!machine_obstacle(facts).empty()) return facts;
    facts.load_error = open_error();
    return facts;
}

}  // namespace

fs::path libtorch_folder() {
    void* const library = ::dlopen("libtorch_cpu.so", RTLD_LAZY | RTLD_NOLOAD);
    const link_map* map = nullptr;
    if (library == nullptr || ::dlinfo(library, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr) return {};
    return fs::path(map->l_name).parent_path();
}

fs::path libtorch_cuda_file() {
    const fs::path file = libtorch_folder() / "libtorch_cuda.so";
    return fs::exists(file) ? file : fs::path();
}

const GpuFacts& gpu_facts() {
    static const GpuFacts facts = gather_facts();
    return facts;
}

}  // namespace bigbird::model
