// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bigbird::baselines {

/// The code length of a sequence under a model. bits / bases is comparable with a language model's bits per
/// base.
struct CodeLength {
    double bits = 0;
    std::int64_t bases = 0;  ///< scored: A C G T; N is not
};

/// 0 to 3 of A C G T, else -1.
int base_index(char base);

/// How often each base was seen in each context of up to `order` bases, with the probabilities of all orders
/// interpolated (Witten and Bell 1991): rare and unseen contexts fall back to shorter ones. A context is a
/// number of two bits per base, with the nearest base in the lowest bits; `length` bases of it are known.
/// Const calls are thread-safe.
class ContextCounts {
public:
    /// 0 to 12. Holds 4^(order + 1) counters, plus the lower orders' counters.
    explicit ContextCounts(int order);

    int order() const { return order_; }
    void add(std::uint32_t context, int length, int base);
    /// Adds -log2 of the base's probability by each order 0 to order() to `lengths` (order() + 1); orders
    /// above `length` cost the same as order `length`.
    void add_bits(std::uint32_t context, int length, int base, std::vector<CodeLength>& lengths) const;

private:
    int order_;
    std::vector<std::vector<std::uint64_t>> counts_;  ///< by order: 4^(order + 1)
};

}  // namespace bigbird::baselines
