// SPDX-License-Identifier: Apache-2.0
#include "bigbird/attention/cuda/host/kernel_library.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/system/program_file.hpp"

#include <dlfcn.h>

#include <atomic>
#include <string>

namespace bigbird::attention::cuda {

namespace {

std::atomic<const KernelTable*> emulation{nullptr};

void* open_file(const std::filesystem::path& file) {
    void* library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        throw DeviceError(
            std::string("the attention backend fused needs bigbird-cuda.so beside the program: ") +
            ::dlerror() + "; build it on a machine with the CUDA toolkit, or choose blocked");
    }
    return library;
}

const KernelTable& open_library() {
    const std::filesystem::path file = program_file("bigbird-cuda.so");
    void* symbol = ::dlsym(open_file(file), "bigbird_cuda_kernels");
    const KernelTable* table =
        symbol == nullptr ? nullptr : reinterpret_cast<decltype(&bigbird_cuda_kernels)>(symbol)();
    if (table == nullptr || table->version != kernel_table_version)
        throw DeviceError(file.string() + " belongs to another version; build it again");
    return *table;
}

}  // namespace

const KernelTable& kernel_library() {
    if (const KernelTable* emulated = emulation; emulated != nullptr) return *emulated;
    static const KernelTable& table = open_library();
    return table;
}

bool has_kernel_library() {
    if (emulation != nullptr) return true;
    static const bool opens = [] {
        try {
            kernel_library();
            return true;
        } catch (const DeviceError& error) {
            log_warning("attention is slower than it can be: {}", error.what());
            return false;
        }
    }();
    return opens;
}

std::string kernel_architectures() {
    kernel_library();  // throws for another version
    void* symbol = ::dlsym(open_file(program_file("bigbird-cuda.so")), "bigbird_cuda_architectures");
    return symbol == nullptr ? "unknown" : reinterpret_cast<decltype(&bigbird_cuda_architectures)>(symbol)();
}

bool kernels_serve(bool is_gpu) {
    return is_gpu || emulation != nullptr;
}

EmulatedKernels::EmulatedKernels(const KernelTable& table) {
    emulation = &table;
}

EmulatedKernels::~EmulatedKernels() {
    emulation = nullptr;
}

}  // namespace bigbird::attention::cuda
