// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/device/libtorch_cuda.hpp"

#include <ATen/Context.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <string_view>

namespace bigbird::model {

namespace fs = std::filesystem;

namespace {

/// NVIDIA's libraries, by the way they are named; not the driver's.
bool is_cuda_library(const std::string& name) {
    return name != "libcuda.so.1" &&
           (name.starts_with("libcu") || name.starts_with("libnv") || name.starts_with("libnccl"));
}

/// The N of libcudart.so.N or libcublas.so.N; 0 for other names.
int release_in(const std::string& name) {
    int release = 0;
    for (const std::string_view prefix : {"libcudart.so.", "libcublas.so."}) {
        if (name.starts_with(prefix)) {
            std::from_chars(name.data() + prefix.size(), name.data() + name.size(), release);
        }
    }
    return release;
}

/// As GpuFacts::libtorch_cuda. libtorch_cpu.so usually brings CUDA's runtime along, which knows; else the
/// names of the libraries that the CUDA part needs tell the major number.
int cuda_of_libtorch() {
    int version = 0;
    if (void* const symbol = ::dlsym(RTLD_DEFAULT, "cudaRuntimeGetVersion"); symbol != nullptr) {
        reinterpret_cast<int (*)(int*)>(symbol)(&version);
    }
    if (version == 0) {
        for (const NeededLibrary& library : libtorch_cuda_libraries()) {
            version = std::max(version, 1000 * release_in(library.name));
        }
    }
    return version;
}

/// A package of the program may hold LibTorch's CPU half alone (docs/install.md).
constexpr const char* no_cuda_part =
    "there is no libtorch_cuda.so beside libtorch_cpu.so: install the package torch 2.11 with CUDA and, "
    "where "
    "it is not found then, name its folder in BIGBIRD_TORCH";

std::string open_error() {
    if (::dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_GLOBAL) == nullptr) {
        const std::string error = ::dlerror();
        return fs::exists(libtorch_folder() / "libtorch_cuda.so") ? error : no_cuda_part;
    }
    if (!at::globalContext().hasCUDA() || at::detail::getCUDAHooks().deviceCount() == 0) {
        return "it sees no GPU, though the driver does";
    }
    return {};
}

GpuFacts gather_facts() {
    GpuFacts facts;
    facts.driver = ask_cuda_driver();
    if (facts.driver.load_error.empty()) {
        facts.libtorch_cuda = cuda_of_libtorch();
    }
    if (!machine_obstacle(facts).empty()) {
        return facts;
    }
    facts.load_error = open_error();
    if (!facts.load_error.empty()) {
        facts.missing_libraries = missing_of(needed_libraries(libtorch_folder() / "libtorch_cuda.so"));
    }
    return facts;
}

}  // namespace

fs::path libtorch_folder() {
    void* const library = ::dlopen("libtorch_cpu.so", RTLD_LAZY | RTLD_NOLOAD);
    const link_map* map = nullptr;
    if (library == nullptr || ::dlinfo(library, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr) {
        return {};
    }
    return fs::path(map->l_name).parent_path();
}

std::vector<NeededLibrary> libtorch_cuda_libraries() {
    std::map<std::string, NeededLibrary> by_name;
    for (const char* part : {"libtorch_cuda.so", "libtorch_cuda_linalg.so", "libcaffe2_nvrtc.so"}) {
        for (NeededLibrary& library : needed_libraries(libtorch_folder() / part)) {
            if (is_cuda_library(library.name)) {
                by_name.emplace(library.name, std::move(library));
            }
        }
    }
    std::vector<NeededLibrary> libraries;
    for (auto& item : by_name) {
        libraries.push_back(std::move(item.second));
    }
    return libraries;
}

const GpuFacts& gpu_facts() {
    static const GpuFacts facts = gather_facts();
    return facts;
}

}  // namespace bigbird::model
