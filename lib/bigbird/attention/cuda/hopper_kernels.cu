// SPDX-License-Identifier: Apache-2.0
// The attention kernels for Hopper (wgmma), heads of size 64. What goes before and after them is
// attention_kernels.cu's.
#include "bigbird/attention/cuda/group_launches.hpp"
#include "bigbird/attention/cuda/group_machine.cuh"
#include "bigbird/attention/cuda/launches.cuh"

namespace bigbird::attention::cuda {

void launch_hopper_forward(Launches& launches, const Arguments& a) {
    DeviceLauncher<GroupMachine> launcher{launches};
    a.element == Element::bf16 ? launch_group_forward_units<Bf16>(launcher, a)
                               : launch_group_forward_units<Fp16>(launcher, a);
}

void launch_hopper_gradients(Launches& launches, const Arguments& a) {
    DeviceLauncher<GroupMachine> launcher{launches};
    a.element == Element::bf16 ? launch_group_gradient_units<Bf16>(launcher, a)
                               : launch_group_gradient_units<Fp16>(launcher, a);
}

}  // namespace bigbird::attention::cuda
