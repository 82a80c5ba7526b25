// SPDX-License-Identifier: Apache-2.0
// A libcuda.so.1 that says what the environment tells it to, for tests on machines without a GPU:
// FAKE_CUDA_VERSION (13000), FAKE_CUDA_START_ERROR (a CUresult), FAKE_CUDA_GPUS ("9.0 7.0": a GPU each),
// FAKE_CUDA_FAULT ("abort" or "hang", in cuInit).
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

namespace {

std::string setting(const char* name, const char* otherwise) {
    const char* value = std::getenv(name);
    return value == nullptr ? otherwise : value;
}

/// Ten times the compute capability of each GPU.
std::vector<int> gpus() {
    std::istringstream words(setting("FAKE_CUDA_GPUS", ""));
    std::vector<int> capabilities;
    int major = 0, minor = 0;
    for (char point = 0; words >> major >> point >> minor;)
        capabilities.push_back(10 * major + minor);
    return capabilities;
}

}  // namespace

extern "C" {

int cuDriverGetVersion(int* version) {
    *version = std::stoi(setting("FAKE_CUDA_VERSION", "13000"));
    return 0;
}
int cuInit(unsigned) {
    const std::string fault = setting("FAKE_CUDA_FAULT", "");
    if (fault == "abort") std::abort();
    while (fault == "hang")
        ::pause();
    return std::stoi(setting("FAKE_CUDA_START_ERROR", "0"));
}
int cuGetErrorString(int, const char** text) {
    *text = "a pretended failure";
    return 0;
}
int cuDeviceGetCount(int* count) {
    *count = static_cast<int>(gpus().size());
    return 0;
}
int cuDeviceGet(int* device, int index) {
    *device = index;
    return 0;
}
int cuDeviceGetName(char* name, int size, int device) {
    std::snprintf(name, static_cast<std::size_t>(size), "Pretended GPU %d", device);
    return 0;
}
int cuDeviceGetAttribute(int* value, int attribute, int device) {
    const int capability = gpus().at(static_cast<std::size_t>(device));
    *value = attribute == 75 ? capability / 10 : capability % 10;
    return 0;
}
int cuDeviceTotalMem_v2(std::size_t* bytes, int) {
    *bytes = std::size_t{80} << 30;
    return 0;
}
}
