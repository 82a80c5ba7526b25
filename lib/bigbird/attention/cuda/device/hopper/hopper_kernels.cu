// SPDX-License-Identifier: Apache-2.0
// The attention kernels for Hopper (wgmma and tensor maps), heads of size 64. attention_kernels.cu launches
// the steps before and after.
#include "bigbird/attention/cuda/device/hopper/pipeline_isa.cuh"
#include "bigbird/attention/cuda/device/hopper/wait_report.hpp"
#include "bigbird/attention/cuda/device/hopper/warpgroup_launches.hpp"
#include "bigbird/attention/cuda/device/hopper/warpgroup_tiles.hpp"
#include "bigbird/attention/cuda/device/launches.cuh"

#include <cuda.h>
#include <cudaTypedefs.h>
#include <cuda_runtime_api.h>

#include <cstdio>

namespace bigbird::attention::cuda {

// Lets the driver pack a TileMapShape. The function is looked up at run time, so that the library can be
// loaded without a driver.

/// cuTensorMapEncodeTiled, which came with CUDA 12.0; null if the driver has none.
inline PFN_cuTensorMapEncodeTiled_v12000 tensor_map_encoder() {
    constexpr unsigned version = 12000;
    void* function = nullptr;
    cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
    const cudaError_t error = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, version,
                                                               cudaEnableDefault, &found);
    return error == cudaSuccess && found == cudaDriverEntryPointSuccess
               ? reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(function)
               : nullptr;
}

inline cudaError_t encode_tensor_map(const TileMapShape& shape, Element element, CUtensorMap& map) {
    static const PFN_cuTensorMapEncodeTiled_v12000 encode = tensor_map_encoder();
    if (encode == nullptr) return cudaErrorNotSupported;
    const cuuint64_t sizes[] = {shape.sizes[0], shape.sizes[1], shape.sizes[2], shape.sizes[3]};
    const cuuint64_t strides[] = {shape.strides[0], shape.strides[1], shape.strides[2]};
    const cuuint32_t every_element[] = {1, 1, 1, 1};
    const CUresult result = encode(
        &map, element == Element::bf16 ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 : CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
        TileMapShape::rank, shape.data, sizes, strides, shape.box, every_element,
        CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    return result == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue;
}

// Memory in which Hopper's kernels report why they gave up (wait_report.hpp). A trap destroys the CUDA
// context and its memory, and printf's buffer may be lost. A call of printf would also make ptxas serialize
// wgmma (C7509). The words are therefore in host memory, which the driver maps for the GPU. They are printed
// to standard error when the process ends, no matter which call saw the CUDA error first.

class WaitReports {
public:
    /// The words of a kernel for the current device, or null if the driver cannot map them: then a kernel
    /// ends without a report. Thread-safe.
    static std::uint64_t* words(PipelineKernel kernel) {
        static WaitReports reports;
        void* mapped = nullptr;
        if (!reports.is_mapped_ || cudaHostGetDevicePointer(&mapped, page_, 0) != cudaSuccess) {
            cudaGetLastError();  // clears the error, so that other calls do not see it
            return nullptr;
        }
        return static_cast<std::uint64_t*>(mapped) + static_cast<int>(kernel) * report_words;
    }

private:
    WaitReports() {
        // The first launch may be part of a graph's capture, which this call must not end.
        cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
        cudaThreadExchangeStreamCaptureMode(&mode);
        is_mapped_ = cudaHostRegister(page_, sizeof(page_),
                                      cudaHostRegisterPortable | cudaHostRegisterMapped) == cudaSuccess;
        cudaThreadExchangeStreamCaptureMode(&mode);
    }
    /// Prints the reports when the process ends. Reads the page as ordinary memory, because the context may
    /// be gone.
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

namespace {

/// The Launcher of warpgroup_launches.hpp, for the current device.
class HopperLauncher : public DeviceLauncher<PipelineIsa> {
public:
    using TileMap = CUtensorMap;

    /// Makes the device's context current, which the driver's functions require: a thread of autograd may not
    /// have one yet.
    explicit HopperLauncher(Launches& to) : DeviceLauncher{to} {
        int device = 0;
        launches.check(cudaGetDevice(&device));
        launches.check(cudaSetDevice(device));
    }
    template <typename Kernel>
    void launch(int blocks, int shared_bytes, typename Kernel::Parameters parameters) {
        parameters.waits = WaitReports::words(Kernel::kernel);
        DeviceLauncher::launch<Kernel>(blocks, shared_bytes, parameters);
    }
    TileMap tile_map(const TensorView& view, const Arguments& a) {
        TileMap map{};
        launches.check(encode_tensor_map(tile_map_shape(view, a), a.element, map));
        return map;
    }
};

/// Waits for a turn that never ends.
struct HangingKernel {
    using Parameters = WarpgroupArguments<CUtensorMap>;
    static constexpr PipelineKernel kernel = PipelineKernel::hang;
    static constexpr int threads = warp_lanes, resident = 1;
    template <DeviceIsa Isa>
    BIGBIRD_DEVICE static void run(const Isa& isa, const Parameters&) {
        const PipelineShared<WarpgroupForwardShape> shared{isa.shared()};
        if (isa.thread() == 0) {
            set_up_barriers(isa, shared);
            isa.publish_barriers();
        }
        isa.sync_block();
        isa.wait_or_give_up(shared.step_full(1), 0, shared.barrier(0),
                            PipelineShared<WarpgroupForwardShape>::barriers);
    }
};

}  // namespace

void launch_hang(Launches& launches) {
    HopperLauncher(launches).launch<HangingKernel>(1, PipelineShared<WarpgroupForwardShape>::bytes, {});
}

void launch_hopper_forward(Launches& launches, const Arguments& a) {
    HopperLauncher launcher(launches);
    a.element == Element::bf16 ? launch_group_forward_units<Bf16>(launcher, a)
                               : launch_group_forward_units<Fp16>(launcher, a);
}

void launch_hopper_gradients(Launches& launches, const Arguments& a) {
    HopperLauncher launcher(launches);
    a.element == Element::bf16 ? launch_group_gradient_units<Bf16>(launcher, a)
                               : launch_group_gradient_units<Fp16>(launcher, a);
}

}  // namespace bigbird::attention::cuda
