// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/device/device.hpp"

#include "bigbird/attention/feature_attention.hpp"
#include "bigbird/attention/torch_threads.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/core/parse_number.hpp"
#include "bigbird/core/system/processor.hpp"

#include <ATen/ATen.h>
#include <ATen/Context.h>
#include <ATen/ThreadLocalState.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <dlfcn.h>
#include <link.h>
#include <malloc.h>

#include <algorithm>
#include <limits>
#include <mutex>

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

/// The N of "cuda:N", 0 for "cuda", -1 for other words.
int device_index(const std::string& choice) {
    if (choice == "cuda") return 0;
    const std::string number = choice.starts_with("cuda:") ? choice.substr(5) : "";
    const int index = parse_number<int>(number).value_or(-1);
    return index >= 0 && index < 1024 ? index : -1;
}

/// None of a device that is no GPU.
const Gpu* gpu_of(const at::Device& device) {
    if (!device.is_cuda()) return nullptr;
    const std::vector<Gpu>& gpus = gpu_facts().driver.gpus;
    const auto index = static_cast<std::size_t>(device.has_index() ? device.index() : 0);
    return index < gpus.size() ? &gpus[index] : nullptr;
}

at::Device open_gpu(int index) {
    at::globalContext().lazyInitDevice(at::kCUDA);
    at::globalContext().setAllowTF32CuDNN(false);  // on by default for convolutions: 10 bits of mantissa
    log_info("computing on GPU {} ({})", index,
             gpu_text(gpu_facts().driver.gpus[static_cast<std::size_t>(index)]));
    return {at::kCUDA, static_cast<at::DeviceIndex>(index)};
}

}  // namespace

at::Device open_device(const std::string& choice) {
    if (choice == "cpu") return at::kCPU;
    if (c10::is_privateuse1_backend_registered() && choice == c10::get_privateuse1_backend())
        return {at::kPrivateUse1, 0};
    const bool is_auto = choice == "auto";
    const int index = device_index(choice);
    if (!is_auto && index < 0)
        throw ConfigError("--device must be auto, cpu, cuda or cuda:N, not '" + choice + "'");
    const GpuFacts facts = gpu_facts();
    const GpuChoice gpu = choose_gpu(facts, is_auto ? std::nullopt : std::optional(index));
    if (gpu.index >= 0) return open_gpu(gpu.index);
    if (!is_auto) throw DeviceError("--device " + choice + " cannot be used: " + gpu.obstacle);
    const bool has_driver = !facts.driver.is_missing;
    const int threads = at::get_num_threads();
    log_info("computing on the CPU, {} thread{}{}", threads, threads == 1 ? "" : "s",
             has_driver ? ": " + gpu.obstacle : std::string());
    if (!has_driver) log_debug("no GPU: {}", gpu.obstacle);
    return at::kCPU;
}

std::int64_t device_memory(const at::Device& device) {
    const Gpu* const gpu = gpu_of(device);
    return gpu != nullptr ? gpu->memory_bytes : 16'000'000'000;
}

bool has_gpu() {
    return choose_gpu(gpu_facts(), std::nullopt).index >= 0;
}

at::Tensor copy_to_device(const at::Tensor& x, const at::Device& device) {
    return device.is_cpu() ? x : x.pin_memory().to(device, /*non_blocking=*/true);
}

HostCopy::HostCopy(const at::Tensor& x) : host_(x.detach()) {
    if (!x.device().is_cpu()) {
        host_ = at::empty(x.sizes(), at::TensorOptions().dtype(x.scalar_type()).pinned_memory(true));
        host_.copy_(x.detach(), /*non_blocking=*/true);
        copied_.emplace(x.device().type());
        copied_->record(c10::impl::VirtualGuardImpl(x.device().type()).getStream(x.device()));
    }
}

at::Tensor HostCopy::get() {
    if (copied_) {
        copied_->synchronize();
        copied_.reset();
    }
    return host_;
}

void set_compute_threads(int threads) {
    const int count = std::max(1, resolve_threads(threads));
    require_threads(count);
    attention::choose_vector_functions();
    at::set_num_threads(count);
    ::mallopt(M_MMAP_MAX, 0);
    ::mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
}

void for_each_pass(std::int64_t count, bool shared, const std::function<void(std::int64_t)>& body) {
    if (!shared || count < at::get_num_threads()) {
        for (std::int64_t i = 0; i < count; ++i)
            body(i);
        return;
    }
    const at::ThreadLocalState modes;
    at::parallel_for(0, count, 1, [&](std::int64_t begin, std::int64_t end) {
        const at::ThreadLocalStateGuard guard(modes);
        for (std::int64_t i = begin; i < end; ++i)
            body(i);
    });
}

bool computes_bf16(const at::Device& device) {
    return !device.is_cpu() || has_bf16_instructions();
}

at::ScalarType arithmetic_type(at::ScalarType type, const at::Device& device) {
    if (type != at::kBFloat16 || computes_bf16(device)) return type;
    static std::once_flag said;
    std::call_once(said, [] {
        log_warning("this processor has no bfloat16 instructions, so bf16 is computed in fp32");
    });
    return at::kFloat;
}

attention::Backend usable_attention(const std::string& name, const at::Device& device) {
    const attention::Backend asked_for = attention::backend_from_name(name);
    const Gpu* const gpu = gpu_of(device);
    const auto fallback = gpu != nullptr ? attention_fallback(name, *gpu) : std::nullopt;
    if (!fallback) return asked_for;
    log_warning("{}", fallback->sentence);
    return attention::backend_from_name(fallback->backend);
}

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
