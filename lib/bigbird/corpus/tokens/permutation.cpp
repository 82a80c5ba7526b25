// SPDX-License-Identifier: Apache-2.0
#include "bigbird/corpus/tokens/permutation.hpp"

#include "bigbird/core/check.hpp"
#include "bigbird/core/rng.hpp"

namespace bigbird::corpus {

namespace {
constexpr std::uint64_t rounds = 6;
}

Permutation::Permutation(std::int64_t size, std::uint64_t key) : size_(size), key_(key) {
    BIGBIRD_EXPECTS(size >= 1, "a permutation needs at least one entry");
    while ((std::int64_t{1} << (2 * half_bits_)) < size) {
        ++half_bits_;
    }
}

std::int64_t Permutation::operator()(std::int64_t index) const {
    BIGBIRD_EXPECTS(index >= 0 && index < size_, "outside the permutation");
    const std::uint64_t half_mask = (std::uint64_t{1} << half_bits_) - 1;
    auto value = static_cast<std::uint64_t>(index);
    do {
        std::uint64_t left = value >> half_bits_, right = value & half_mask;
        for (std::uint64_t round = 0; round < rounds; ++round) {
            const std::uint64_t mixed = Rng(key_ ^ (right * rounds + round)).next() & half_mask;
            const std::uint64_t swapped = left ^ mixed;
            left = right;
            right = swapped;
        }
        value = (left << half_bits_) | right;
    } while (value >= static_cast<std::uint64_t>(size_));
    return static_cast<std::int64_t>(value);
}

}  // namespace bigbird::corpus
