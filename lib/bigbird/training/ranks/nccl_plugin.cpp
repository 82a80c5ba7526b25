// SPDX-License-Identifier: Apache-2.0
#include "bigbird/training/ranks/nccl_plugin.hpp"

#include "bigbird/core/error.hpp"

#include <dlfcn.h>

namespace bigbird::training {

namespace {

using Make = void (*)(const c10::intrusive_ptr<c10d::Store>&, int, int, int,
                      c10::intrusive_ptr<c10d::Backend>&);

Make open_plugin(const std::filesystem::path& file) {
    void* library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        throw DeviceError(
            std::string("several GPUs need bigbird-nccl.so beside the program: ") + ::dlerror() +
            "; build it on a machine with the CUDA toolkit and NCCL's headers, or use --device cpu");
    }
    void* symbol = ::dlsym(library, "bigbird_make_nccl");
    if (symbol == nullptr) throw DeviceError(file.string() + " belongs to another version; build it again");
    return reinterpret_cast<Make>(symbol);
}

}  // namespace

c10::intrusive_ptr<c10d::Backend> open_nccl(const c10::intrusive_ptr<c10d::Store>& store, int rank, int size,
                                            const at::Device& device, const std::filesystem::path& library) {
    static const Make make = open_plugin(library);
    c10::intrusive_ptr<c10d::Backend> backend;
    make(store, rank, size, device.index(), backend);
    return backend;
}

}  // namespace bigbird::training
