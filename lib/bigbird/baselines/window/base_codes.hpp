// SPDX-License-Identifier: Apache-2.0
// Bases as small numbers: A 0, C 1, G 2, T 3, N 4.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace bigbird::baselines {

constexpr std::int32_t code_of_n = 4;

/// Codes of normalized sequence.
std::vector<std::int32_t> base_codes(std::string_view dna);

/// The reverse complement of a word of `length` letters, two bits each.
constexpr std::size_t reverse_complement(std::size_t word, int length) {
    std::size_t reverse = 0;
    for (int i = 0; i < length; ++i, word >>= 2U)
        reverse = reverse << 2U | (3 - (word & 3U));
    return reverse;
}

/// (batch, length) int64 codes -> (batch, 4, length) float32: a 1 in the row of the base, N all 0.
at::Tensor one_hot_bases(const at::Tensor& bases);

}  // namespace bigbird::baselines
