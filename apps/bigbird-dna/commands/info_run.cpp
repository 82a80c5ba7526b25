// SPDX-License-Identifier: Apache-2.0
#include "commands/commands.hpp"

#include "bigbird/attention/cuda/host/kernel_library.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/system/program_file.hpp"
#include "bigbird/model/device/device.hpp"
#include "bigbird/training/ranks/rank_spec.hpp"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <torch/version.h>

#include <cstdio>

namespace bigbird::cli {

namespace {

/// That something can be used for what `details` say, unless there is an obstacle.
ProgramPart part_unless(const std::string& obstacle, const std::string& part, const std::string& details) {
    return {part, obstacle.empty(), obstacle.empty() ? details : obstacle};
}

ProgramPart libtorch_part() {
    const at::Context& context = at::globalContext();
    return {"LibTorch", true,
            std::string(TORCH_VERSION) + " in " + model::libtorch_folder().string() + ", computes with " +
                at::get_cpu_capability() + (context.hasMKL() ? ", MKL" : "") +
                (context.hasMKLDNN() ? ", oneDNN" : "") + ", " + std::to_string(at::get_num_threads()) +
                " threads"};
}

ProgramPart kernels_part() {
    const std::string file = program_file("bigbird-cuda.so").string();
    try {
        const auto& kernels = attention::cuda::kernel_library();
        const bool all = kernels.supports(attention::cuda::KernelSet::general, 32);
        return {"own CUDA kernels", true,
                file + ": " + attention::cuda::kernel_architectures() + "; heads of size " +
                    (all ? "32, 64 and 128" : "64")};
    } catch (const Error& error) {
        return {"own CUDA kernels", false, error.what()};
    }
}

ProgramPart cuda_part() {
    const auto file = model::libtorch_cuda_file();
    return {"CUDA libraries", !file.empty(),
            file.empty() ? "this LibTorch has no CUDA part" : file.lexically_normal().string()};
}

ProgramPart nccl_part() {
    const training::NcclFacts facts = training::nccl_facts();
    const std::string found =
        facts.version.empty() ? "" : facts.version + " in " + facts.library.lexically_normal().string();
    return {
        "NCCL", facts.obstacle.empty(),
        facts.obstacle.empty() ? found : facts.obstacle + (found.empty() ? "" : "; NCCL itself is " + found)};
}

/// Prints whether each GPU can be used, then the choice of --device auto.
void print_devices() {
    const model::GpuFacts& facts = model::gpu_facts();
    for (int i = 0; i < static_cast<int>(facts.driver.gpus.size()); ++i)
        print_part(part_unless(model::gpu_obstacle(facts, i), "--device cuda:" + std::to_string(i), "opens"));
    const model::GpuChoice gpu = model::choose_gpu(facts, std::nullopt);
    print_part(
        {"--device auto", true,
         gpu.index >= 0 ? "takes cuda:" + std::to_string(gpu.index) : "takes the CPU: " + gpu.obstacle});
}

}  // namespace

int run_info_with_tensors(const InfoOptions&) {
    print_part(libtorch_part());
    print_part(
        part_unless(training::gloo_obstacle(), "Gloo", "several processes on CPUs can train together"));
    print_part(kernels_part());
    print_part(cuda_part());
    print_part(nccl_part());
    print_devices();  // last: it starts the driver and opens LibTorch's CUDA part
    return 0;
}

}  // namespace bigbird::cli
