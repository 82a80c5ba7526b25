// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bigbird::baselines {

/// What a sequence costs under a model. bits / bases is the figure beside which a language model's bits per
/// base stand.
struct CodeLength {
    double bits = 0;
    std::int64_t bases = 0;  ///< scored: A C G T; N is not
};

/// 0 to 3 of A C G T, else -1.
int base_index(char base);

/// How often each base was seen in each context of up to `order` bases, and the probabilities of all orders
/// interpolated (after Witten and Bell 1991), so that contexts that were seen rarely or never cost what
/// shorter ones say. A context is a number of two bits a base, the lowest those of the base that counts most;
/// `length` of them are known. Const calls are thread-safe.
class ContextCounts {
public:
    /// 0 to 12. Holds 4^(order + 1) counters and those of the lower orders.
    explicit ContextCounts(int order);

    int order() const { return order_; }
    void add(std::uint32_t context, int length, int base);
    /// Adds -log2 of the base's probability by each order 0 to order() to `lengths` (order() + 1); orders
    /// beyond `length` cost what that costs.
    void add_bits(std::uint32_t context, int length, int base, std::vector<CodeLength>& lengths) const;

private:
    int order_;
    std::vector<std::vector<std::uint64_t>> counts_;  ///< by order: 4^(order + 1)
};

}  // namespace bigbird::baselines
