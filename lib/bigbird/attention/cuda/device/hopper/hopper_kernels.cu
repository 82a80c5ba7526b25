// SPDX-License-Identifier: Apache-2.0
// The attention kernels for Hopper (wgmma and tensor maps), heads of size 64. What goes before and after them
// is attention_kernels.cu's.
#include "bigbird/attention/cuda/device/hopper/pipeline_isa.cuh"
#include "bigbird/attention/cuda/device/hopper/tensor_map.cuh"
#include "bigbird/attention/cuda/device/hopper/wait_reports.cuh"
#include "bigbird/attention/cuda/device/hopper/warpgroup_launches.hpp"
#include "bigbird/attention/cuda/device/launches.cuh"

namespace bigbird::attention::cuda {

namespace {

/// The Launcher of warpgroup_launches.hpp, for the current device.
class HopperLauncher : public DeviceLauncher<PipelineIsa> {
public:
    using TileMap = CUtensorMap;

    /// Makes the device's context current, as the driver's own functions want it: a thread of autograd's may
    /// have had none so far, and no call of the runtime made one.
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
