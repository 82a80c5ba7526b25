// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/gpu/gpu_facts.hpp"

#include <dlfcn.h>

#include <array>

namespace bigbird::model {

namespace {

// Constants of cuda.h, which is not needed to build this.
constexpr int success = 0, no_device = 100, capability_major = 75, capability_minor = 76;

/// Calls a function of the driver; returns an error if the driver lacks it.
template <typename... Arguments>
int call(void* driver, const char* name, Arguments... arguments) {
    constexpr int not_found = 500;
    const auto function = reinterpret_cast<int (*)(Arguments...)>(::dlsym(driver, name));
    return function == nullptr ? not_found : function(arguments...);
}

Gpu describe_gpu(void* driver, int device) {
    Gpu gpu;
    std::array<char, 256> name{};
    if (call(driver, "cuDeviceGetName", name.data(), static_cast<int>(name.size()) - 1, device) == success)
        gpu.name = name.data();
    call(driver, "cuDeviceGetAttribute", &gpu.major, int{capability_major}, device);
    call(driver, "cuDeviceGetAttribute", &gpu.minor, int{capability_minor}, device);
    std::size_t bytes = 0;
    call(driver, "cuDeviceTotalMem_v2", &bytes, device);
    gpu.memory_bytes = static_cast<std::int64_t>(bytes);
    return gpu;
}

std::string error_text(void* driver, int error) {
    const char* text = nullptr;
    call(driver, "cuGetErrorString", error, &text);
    return text == nullptr ? "unknown error" : text;
}

bool names_missing_file(const std::string& load_error) {
    return load_error.starts_with("libcuda.so.1:") &&
           load_error.find("No such file or directory") != std::string::npos;
}

}  // namespace

DriverFacts ask_cuda_driver() {
    DriverFacts facts;
    void* driver = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (driver == nullptr) {
        const char* error = ::dlerror();
        facts.load_error = error == nullptr ? "unknown error" : error;
        facts.is_missing = names_missing_file(facts.load_error);
        return facts;
    }
    facts.is_missing = false;
    call(driver, "cuDriverGetVersion", &facts.version);
    facts.start_error = call(driver, "cuInit", 0U);
    if (facts.start_error == no_device) {  // a missing GPU is not an error of the driver
        facts.start_error = success;
        return facts;
    }
    if (facts.start_error != success) {
        facts.start_error_text = error_text(driver, facts.start_error);
        return facts;
    }
    int count = 0;
    call(driver, "cuDeviceGetCount", &count);
    for (int i = 0; i < count; ++i) {
        int device = 0;
        call(driver, "cuDeviceGet", &device, i);
        facts.gpus.push_back(describe_gpu(driver, device));
    }
    return facts;
}

}  // namespace bigbird::model
