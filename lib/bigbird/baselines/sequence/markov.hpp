// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace bigbird::baselines {

/// Of ContextCounts, by their memory.
inline constexpr int highest_order = 12;

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
    /// Up to highest_order. Holds 4^(order + 1) counters, plus the lower orders' counters.
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

/// A Markov chain of order k over A C G T, by ContextCounts. N breaks the context and is neither counted nor
/// scored. Const calls are thread-safe.
class MarkovModel {
public:
    /// 0 to 12.
    explicit MarkovModel(int order) : counts_(order) {}

    int order() const { return counts_.order(); }
    /// Counts a sequence. Normalized letters; the context does not extend before its start.
    void add(std::string_view dna);
    /// Code lengths of a sequence by the chains of orders 0 to order(), given what was counted so far, in the
    /// time of the longest, which interpolates the others' probabilities. Sequences are independent.
    std::vector<CodeLength> score_all(std::string_view dna) const;

private:
    ContextCounts counts_;
};

/// Predicts each base from the `reach` bases on either side, by ContextCounts: the base before, the base
/// after, the second one before … A masked model sees both sides, too, but not the other bases of the masked
/// token; this model sees all neighbors. N breaks the context and is neither counted nor scored. Const calls
/// are thread-safe.
class TwoSidedModel {
public:
    /// 0 to 6.
    explicit TwoSidedModel(int reach) : counts_(2 * reach) {}

    /// Counts a sequence. Normalized letters; the context does not extend beyond its ends.
    void add(std::string_view dna);
    /// Code lengths of the models with reaches 0 to `reach`, given the counts so far.
    std::vector<CodeLength> score_all(std::string_view dna) const;

private:
    ContextCounts counts_;
};

}  // namespace bigbird::baselines
