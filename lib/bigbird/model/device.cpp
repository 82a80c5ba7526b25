// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/device.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parallel.hpp"

#include <ATen/ATen.h>
#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <dlfcn.h>
#include <malloc.h>

#include <algorithm>
#include <charconv>
#include <limits>

namespace bigbird::model {

namespace {

/// Empty where CUDA can be used, else why not. LibTorch remembers its first answer about GPUs, so the library
/// is opened before it is asked.
std::string open_cuda() {
    if (::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL) == nullptr) {
        return "no NVIDIA driver is installed (libcuda.so.1 is missing)";
    }
    if (::dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_GLOBAL) == nullptr) {
        return std::string("LibTorch's CUDA part cannot be opened: ") + ::dlerror() +
               "; scripts/setup --cuda installs what it needs";
    }
    if (!at::globalContext().hasCUDA() || at::detail::getCUDAHooks().deviceCount() == 0) {
        return "the driver shows no GPU (see nvidia-smi, and CUDA_VISIBLE_DEVICES)";
    }
    return {};
}

const std::string& cuda_obstacle() {
    static const std::string obstacle = open_cuda();
    return obstacle;
}

/// The N of "cuda:N", 0 for "cuda", -1 for other words.
int device_index(const std::string& choice) {
    if (choice == "cuda") {
        return 0;
    }
    int index = -1;
    const std::string number = choice.starts_with("cuda:") ? choice.substr(5) : "";
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), index);
    return error == std::errc() && end == number.data() + number.size() && index >= 0 && index < 1024 ? index
                                                                                                      : -1;
}

at::Device open_gpu(int index) {
    if (!cuda_obstacle().empty()) {
        throw DeviceError("--device cuda cannot be used: " + cuda_obstacle());
    }
    const int count = static_cast<int>(at::detail::getCUDAHooks().deviceCount());
    if (index >= count) {
        throw DeviceError("--device cuda:" + std::to_string(index) + " does not exist: this machine has " +
                          std::to_string(count) + (count == 1 ? " GPU" : " GPUs"));
    }
    at::globalContext().lazyInitDevice(at::kCUDA);
    log_info("computing on GPU {}", index);
    return {at::kCUDA, static_cast<at::DeviceIndex>(index)};
}

}  // namespace

at::Device open_device(const std::string& choice) {
    if (choice == "cpu") {
        return at::kCPU;
    }
    if (choice == "auto") {
        if (cuda_obstacle().empty()) {
            return open_gpu(0);
        }
        log_info("computing on the CPU, {} threads: {}", at::get_num_threads(), cuda_obstacle());
        return at::kCPU;
    }
    if (c10::is_privateuse1_backend_registered() && choice == c10::get_privateuse1_backend()) {
        return {at::kPrivateUse1, 0};
    }
    const int index = device_index(choice);
    if (index < 0) {
        throw ConfigError("--device must be auto, cpu, cuda or cuda:N, not '" + choice + "'");
    }
    return open_gpu(index);
}

bool has_gpu() {
    return cuda_obstacle().empty();
}

at::Tensor send(const at::Tensor& x, const at::Device& device) {
    return device.is_cpu() ? x : x.pin_memory().to(device, /*non_blocking=*/true);
}

Arriving::Arriving(const at::Tensor& x) : host_(x.detach()) {
    if (!x.device().is_cpu()) {
        host_ = at::empty(x.sizes(), at::TensorOptions().dtype(x.scalar_type()).pinned_memory(true));
        host_.copy_(x.detach(), /*non_blocking=*/true);
        copied_.emplace(x.device().type());
        copied_->record(c10::impl::VirtualGuardImpl(x.device().type()).getStream(x.device()));
    }
}

at::Tensor Arriving::get() {
    if (copied_) {
        copied_->synchronize();
        copied_.reset();
    }
    return host_;
}

void set_compute_threads(int threads) {
    at::set_num_threads(std::max(1, resolve_threads(threads)));
    ::mallopt(M_MMAP_MAX, 0);
    ::mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
}

}  // namespace bigbird::model
