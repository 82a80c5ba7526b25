// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace bigbird::corpus {

/// A pseudo-random order of 0..size-1, any entry of which is computed alone and in constant memory: a Feistel
/// cipher on the next even number of bits, walked until it lands inside. A function of (size, key) alone.
class Permutation {
public:
    /// Expects size >= 1.
    Permutation(std::int64_t size, std::uint64_t key);
    std::int64_t operator()(std::int64_t index) const;

private:
    std::int64_t size_;
    std::uint64_t key_;
    int half_bits_ = 1;
};

}  // namespace bigbird::corpus
