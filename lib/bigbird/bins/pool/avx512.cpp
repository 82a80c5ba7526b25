// SPDX-License-Identifier: Apache-2.0
#include "bigbird/bins/pool/kernel_impl.hpp"

namespace bigbird::bins {

PoolKernel pool_kernel_avx512() {
    return {forward_impl, backward_impl};
}

}  // namespace bigbird::bins
