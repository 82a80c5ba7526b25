// SPDX-License-Identifier: Apache-2.0
#include "bigbird/bins/convolution.hpp"

#include <ATen/ATen.h>

namespace bigbird::bins {

at::Tensor convolution(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                       std::int64_t dilation) {
    const std::int64_t padding = weight.size(2) / 2 * dilation;
    // oneDNN takes the channels last, as the tensors hold them.
    return at::conv2d(x.transpose(1, 2).unsqueeze(2), weight.unsqueeze(2), bias, at::IntArrayRef{1, 1},
                      at::IntArrayRef{0, padding}, at::IntArrayRef{1, dilation})
        .squeeze(2)
        .transpose(1, 2);
}

}  // namespace bigbird::bins
