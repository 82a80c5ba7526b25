// SPDX-License-Identifier: Apache-2.0
// bigbird-nccl.so: makes c10d's NCCL backend. It is a separate library (rank_spec.hpp).
#include <c10/cuda/CUDAFunctions.h>
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

#include <chrono>

extern "C" void bigbird_make_nccl(const c10::intrusive_ptr<c10d::Store>& store, int rank, int size,
                                  int device, c10::intrusive_ptr<c10d::Backend>& backend) {
    c10::cuda::set_device(static_cast<c10::DeviceIndex>(device));
    auto options = c10d::ProcessGroupNCCL::Options::create();
    options->timeout = std::chrono::hours(2);  // the others wait while one tokenizes or writes
    auto made = c10::make_intrusive<c10d::ProcessGroupNCCL>(store, rank, size, options);
    made->setBoundDeviceId(at::Device(at::kCUDA, static_cast<c10::DeviceIndex>(device)));
    backend = made;
}
