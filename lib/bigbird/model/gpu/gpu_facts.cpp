// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/gpu/gpu_facts.hpp"

#include <map>

namespace bigbird::model {

namespace {

constexpr int thousand = 1000, ten = 10;
constexpr int first_with_fused = 80, hopper = 90;

int capability(const Gpu& gpu) {
    return ten * gpu.major + gpu.minor;
}

std::string capability_text(int capability) {
    return std::to_string(capability / ten) + "." + std::to_string(capability % ten);
}

/// The lowest compute capability that LibTorch's builds for a CUDA release support.
int least_capability(int cuda) {
    constexpr int since_13 = 75, before = 50;
    return cuda / thousand >= 13 ? since_13 : before;
}

/// The first driver that supports a CUDA release; the same for all with its major number.
std::string driver_for(int cuda) {
    static const std::map<int, std::string> drivers{{11, "450"}, {12, "525"}, {13, "580"}};
    const auto found = drivers.find(cuda / thousand);
    return found == drivers.end() ? std::string() : found->second;
}

std::string driver_obstacle(const DriverFacts& driver) {
    if (!driver.load_error.empty()) {
        return driver.is_missing ? "no NVIDIA driver is installed (libcuda.so.1 is missing)"
                                 : "the NVIDIA driver cannot be opened: " + driver.load_error;
    }
    if (driver.start_error != 0) {
        return "the NVIDIA driver does not start: " + driver.start_error_text + " (CUDA error " +
               std::to_string(driver.start_error) + "; see nvidia-smi)";
    }
    return driver.gpus.empty() ? "the driver shows no GPU (see nvidia-smi, and CUDA_VISIBLE_DEVICES)" : "";
}

/// A driver supports every release with its major number.
std::string version_obstacle(const GpuFacts& facts) {
    if (facts.driver.version / thousand >= facts.libtorch_cuda / thousand) return {};
    const std::string number = driver_for(facts.libtorch_cuda);
    return "the NVIDIA driver is too old: it serves CUDA " + cuda_version_text(facts.driver.version) +
           ", and this LibTorch needs " + cuda_version_text(facts.libtorch_cuda) +
           (number.empty() ? "; install a newer driver" : "; install driver " + number + " or newer");
}

std::string libraries_obstacle(const GpuFacts& facts) {
    if (facts.load_error.empty()) return {};
    const bool lacks = facts.load_error.find("cannot open shared object file") != std::string::npos;
    return "LibTorch's CUDA part cannot be opened: " + facts.load_error +
           (lacks ? "; scripts/setup --with-cuda of a clone, or pip's torch with CUDA, brings it" : "");
}

/// Reports the driver's own errors before LibTorch's requirements.
std::string before_libraries(const GpuFacts& facts) {
    if (facts.driver.load_error.empty() && facts.libtorch_cuda == 0)
        return "this LibTorch was built without CUDA: scripts/setup installs one with it";
    // A driver that is too old may fail to start for that very reason.
    const bool is_open = facts.driver.load_error.empty() && facts.driver.version > 0;
    const std::string old = is_open ? version_obstacle(facts) : "";
    return old.empty() ? driver_obstacle(facts.driver) : old;
}

/// Why one GPU cannot be used.
std::string own_obstacle(const GpuFacts& facts, int index) {
    const std::vector<Gpu>& gpus = facts.driver.gpus;
    const auto count = static_cast<int>(gpus.size());
    if (index < 0 || index >= count) {
        return "cuda:" + std::to_string(index) + " does not exist: this machine shows " +
               std::to_string(count) +
               (count == 1 ? " GPU, cuda:0" : " GPUs, cuda:0 to cuda:" + std::to_string(count - 1));
    }
    const Gpu& gpu = gpus[static_cast<std::size_t>(index)];
    const int least = least_capability(facts.libtorch_cuda);
    return capability(gpu) >= least ? ""
                                    : "cuda:" + std::to_string(index) + " (" + gpu_text(gpu) +
                                          ") is too old: this LibTorch needs compute capability " +
                                          capability_text(least) + " or newer";
}

}  // namespace

std::string machine_obstacle(const GpuFacts& facts) {
    const std::string obstacle = before_libraries(facts);
    return obstacle.empty() ? libraries_obstacle(facts) : obstacle;
}

std::string gpu_obstacle(const GpuFacts& facts, int index) {
    for (const std::string& obstacle : {before_libraries(facts), own_obstacle(facts, index)})
        if (!obstacle.empty()) return obstacle;
    return libraries_obstacle(facts);
}

GpuChoice choose_gpu(const GpuFacts& facts, std::optional<int> asked_for) {
    if (asked_for) {
        const std::string obstacle = gpu_obstacle(facts, *asked_for);
        return {obstacle.empty() ? *asked_for : -1, obstacle};
    }
    const auto count = static_cast<int>(facts.driver.gpus.size());
    for (int index = 0; index < count; ++index)
        if (gpu_obstacle(facts, index).empty()) return {index, {}};
    const std::string obstacle = machine_obstacle(facts);
    return {-1, obstacle.empty() ? gpu_obstacle(facts, 0) : obstacle};
}

std::string cuda_version_text(int version) {
    return std::to_string(version / thousand) + "." + std::to_string(version % thousand / ten);
}

std::string gpu_text(const Gpu& gpu) {
    return (gpu.name.empty() ? "a GPU without a name" : gpu.name) + ", compute capability " +
           capability_text(capability(gpu));
}

bool has_fused_kernels(const Gpu& gpu) {
    return capability(gpu) >= first_with_fused;
}

bool has_hopper_kernels(const Gpu& gpu) {
    return capability(gpu) == hopper;
}

std::optional<AttentionFallback> attention_fallback(const std::string& backend, const Gpu& gpu) {
    const bool wants_hopper = backend == "fused-hopper";
    if ((wants_hopper && has_hopper_kernels(gpu)) || (backend == "fused" && has_fused_kernels(gpu)) ||
        (!wants_hopper && backend != "fused"))
        return {};
    const std::string instead = has_fused_kernels(gpu) ? "fused" : "blocked";
    return AttentionFallback{instead, "--attention " + instead + " computes instead of " + backend +
                                          ", whose kernels need a GPU of compute capability " +
                                          (wants_hopper ? "9.0" : "8.0 or newer") + ": this is " +
                                          gpu_text(gpu)};
}

}  // namespace bigbird::model
