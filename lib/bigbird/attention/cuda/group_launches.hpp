// SPDX-License-Identifier: Apache-2.0
// The launches of Hopper's kernels (attention_launches.hpp has those around them).
#pragma once

#include "bigbird/attention/cuda/group_backward.hpp"
#include "bigbird/attention/cuda/group_forward.hpp"

namespace bigbird::attention::cuda {

template <typename Scalar>
struct GroupForwardKernel {
    using Parameters = Arguments;
    static constexpr int threads = 2 * group_threads, resident = 2;
    template <typename Machine>
    BIGBIRD_DEVICE static void run(const Machine& machine, const Arguments& a) {
        group_forward_kernel<Scalar>(machine, a);
    }
};
template <typename Scalar>
struct GroupQueryGradientKernel {
    using Parameters = Arguments;
    static constexpr int threads = 2 * group_threads, resident = 2;
    template <typename Machine>
    BIGBIRD_DEVICE static void run(const Machine& machine, const Arguments& a) {
        group_query_gradient_kernel<Scalar>(machine, a);
    }
};
template <typename Scalar>
struct GroupKeyGradientKernel {
    using Parameters = Arguments;
    static constexpr int threads = group_threads, resident = 3;
    template <typename Machine>
    BIGBIRD_DEVICE static void run(const Machine& machine, const Arguments& a) {
        group_key_gradient_kernel<Scalar>(machine, a);
    }
};

template <typename Scalar, typename Launcher>
void launch_group_forward_units(Launcher& launcher, const Arguments& a) {
    launcher.template launch<GroupForwardKernel<Scalar>>(a.samples * a.queries.unit_count,
                                                         ForwardShared<group_head_dim>::bytes, a);
}
template <typename Scalar, typename Launcher>
void launch_group_gradient_units(Launcher& launcher, const Arguments& a) {
    launcher.template launch<GroupQueryGradientKernel<Scalar>>(a.samples * a.queries.unit_count,
                                                               QueryGradientShared<group_head_dim>::bytes, a);
    launcher.template launch<GroupKeyGradientKernel<Scalar>>(a.samples * a.keys.unit_count,
                                                             GroupKeyShared::bytes, a);
}

}  // namespace bigbird::attention::cuda
