// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace bigbird::testing {

/// What `gpu_tests --wait-for-ever` does: a kernel that waits for ever. Leaves a CUDA error that the process
/// cannot get rid of, and returns it.
int wait_for_ever();

}  // namespace bigbird::testing
