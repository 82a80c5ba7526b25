// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/layers/gelu.hpp"

#include "support/tensors.hpp"
#include "support/testing.hpp"

#include <ATen/ATen.h>

using namespace bigbird::model;
using bigbird::testing::difference;

namespace {

/// -30 .. 30, finer about 0; 2,003 elements are no whole number of vectors.
at::Tensor arguments() {
    const at::Tensor line = at::linspace(-3.1, 3.1, 2003, at::kDouble);
    return line * line * line;
}

}  // namespace

DOCTEST_TEST_CASE("gelu: by tanh, as LibTorch in fp64, in fp32 and bf16") {
    for (const auto& [type, tolerance] : {std::pair(at::kFloat, 4e-7), std::pair(at::kBFloat16, 8e-3)}) {
        const at::Tensor x = arguments().to(type), wide = x.to(at::kDouble).requires_grad_();
        const at::Tensor wanted = at::gelu(wide, "tanh");
        const at::Tensor scale = wanted.detach().abs() + 1;
        DOCTEST_CHECK(difference(gelu_tanh(x.clone()) / scale, wanted.detach() / scale) < tolerance);

        const at::Tensor leaf = x.clone().requires_grad_();
        const at::Tensor weights = at::linspace(-1, 1, x.numel(), at::kDouble).to(type);
        (gelu_tanh(leaf) * weights).sum().backward();
        (wanted * weights.to(at::kDouble)).sum().backward();
        DOCTEST_CHECK(difference(leaf.grad(), wide.grad()) < 3 * tolerance);
    }
}

DOCTEST_TEST_CASE("gelu: what is no number stays so, infinities have their limits") {
    const at::Tensor y = gelu_tanh(at::tensor({std::nanf(""), HUGE_VALF, -50.0F}));
    DOCTEST_CHECK(y[0].isnan().item<bool>());
    DOCTEST_CHECK(y[1].item<float>() == HUGE_VALF);
    DOCTEST_CHECK(std::abs(y[2].item<float>()) < 1e-30F);
}

DOCTEST_TEST_CASE("gelu: fp64 is LibTorch's") {
    const at::Tensor x = arguments();
    DOCTEST_CHECK(difference(gelu_tanh(x), at::gelu(x, "tanh")) == 0);
}
