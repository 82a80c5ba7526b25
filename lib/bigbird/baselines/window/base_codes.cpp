// SPDX-License-Identifier: Apache-2.0
#include "bigbird/baselines/window/base_codes.hpp"

#include <ATen/ATen.h>

#include <algorithm>

namespace bigbird::baselines {

std::vector<std::int32_t> base_codes(std::string_view dna) {
    constexpr std::string_view letters = "ACGT";
    std::vector<std::int32_t> codes(dna.size());
    std::ranges::transform(dna, codes.begin(), [&](char base) {
        return static_cast<std::int32_t>(std::min(letters.find(base), letters.size()));
    });
    return codes;
}

at::Tensor one_hot_bases(const at::Tensor& bases) {
    const at::Tensor rows = at::eye(5, 4, at::TensorOptions().device(bases.device()));  // N's row is 0
    return rows.index_select(0, bases.reshape({-1}))
        .reshape({bases.size(0), bases.size(1), 4})
        .transpose(1, 2)
        .contiguous();
}

}  // namespace bigbird::baselines
