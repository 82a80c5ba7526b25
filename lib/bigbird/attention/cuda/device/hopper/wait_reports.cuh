// SPDX-License-Identifier: Apache-2.0
// Where Hopper's kernels write why they gave up (wait_report.hpp). A trap ends the CUDA context with all of
// its memory, and what printf has buffered may be lost; a call of printf would also make ptxas run wgmma one
// by one (C7509). So the words lie in memory of the process, which the driver maps for the GPU. They are
// printed to standard error when the process ends, whoever met the CUDA error first.
#pragma once

#include "bigbird/attention/cuda/device/hopper/wait_report.hpp"
#include "bigbird/attention/cuda/device/hopper/warpgroup_launches.hpp"

#include <cuda_runtime_api.h>

#include <cstdio>

namespace bigbird::attention::cuda {

class WaitReports {
public:
    /// The words of a kernel for the current device, or null where the driver cannot map them: then a kernel
    /// ends without a report. Thread-safe.
    static std::uint64_t* words(PipelineKernel kernel) {
        static WaitReports reports;
        void* mapped = nullptr;
        if (!reports.is_mapped_ || cudaHostGetDevicePointer(&mapped, page_, 0) != cudaSuccess) {
            cudaGetLastError();  // none is left for others to find
            return nullptr;
        }
        return static_cast<std::uint64_t*>(mapped) + static_cast<int>(kernel) * report_words;
    }

private:
    WaitReports() {
        // The first launch may be part of a graph's capture, which this must not end.
        cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
        cudaThreadExchangeStreamCaptureMode(&mode);
        is_mapped_ = cudaHostRegister(page_, sizeof(page_),
                                      cudaHostRegisterPortable | cudaHostRegisterMapped) == cudaSuccess;
        cudaThreadExchangeStreamCaptureMode(&mode);
    }
    /// When the process ends. The page is read as ordinary memory: the context may be gone.
    ~WaitReports() {
        print<WarpgroupForwardShape>("forward", PipelineKernel::forward);
        print<WarpgroupQueryGradientShape>("dq", PipelineKernel::query_gradient);
        print<WarpgroupKeyGradientShape>("dk and dv", PipelineKernel::key_gradient);
        print<WarpgroupForwardShape>("that is made to hang", PipelineKernel::hang);
    }
    template <typename Shape>
    static void print(const char* name, PipelineKernel kernel) {
        const std::string text = describe_waits<Shape>(name, page_ + static_cast<int>(kernel) * report_words);
        std::fputs(text.c_str(), stderr);
    }

    bool is_mapped_ = false;
    alignas(4096) static inline std::uint64_t page_[4096 / sizeof(std::uint64_t)] = {};
};

}  // namespace bigbird::attention::cuda
