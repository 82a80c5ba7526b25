// SPDX-License-Identifier: Apache-2.0
// A row of bits that finds its k-th 1 quickly. Takes two bits of memory per bit.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace bigbird {

/// Const calls are thread-safe.
class RankedBits {
public:
    void push_back(bool bit) {
        if (size_ % 64 == 0) {
            words_.push_back(0);
            before_.push_back(ones_);
        }
        words_.back() |= std::uint64_t{bit} << (size_ % 64);
        ++size_;
        ones_ += bit ? 1 : 0;
    }
    std::int64_t size() const { return size_; }
    std::int64_t ones() const { return ones_; }
    bool operator[](std::int64_t i) const {
        return (words_[static_cast<std::size_t>(i / 64)] >> (i % 64) & 1U) != 0;
    }
    /// The index of the k-th 1, k from 0. Needs k < ones(). Takes log(size) steps.
    std::int64_t place_of(std::int64_t k) const {
        const auto after = std::ranges::upper_bound(before_, k);
        const auto word = static_cast<std::size_t>(after - before_.begin() - 1);
        std::uint64_t bits = words_[word];
        for (std::int64_t i = before_[word]; i < k; ++i)
            bits &= bits - 1;
        return static_cast<std::int64_t>(word) * 64 + std::countr_zero(bits);
    }
    /// The number of 1s before index i, i < size().
    std::int64_t ones_before(std::int64_t i) const {
        const auto word = static_cast<std::size_t>(i / 64);
        return before_[word] + std::popcount(words_[word] & ((std::uint64_t{1} << (i % 64)) - 1));
    }

private:
    std::vector<std::uint64_t> words_;
    std::vector<std::int64_t> before_;  // 1s before each word
    std::int64_t size_ = 0, ones_ = 0;
};

}  // namespace bigbird
