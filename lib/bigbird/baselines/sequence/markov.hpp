// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace bigbird::baselines {

/// What a sequence costs under a model. bits / bases is the figure beside which a language model's bits per
/// base stand.
struct CodeLength {
    double bits = 0;
    std::int64_t bases = 0;  ///< scored: A C G T; N is not
};

/// A Markov chain of order k over A C G T. Probabilities of all orders 0..k are interpolated (after Witten
/// and Bell 1991), so contexts that training saw rarely or never cost what shorter ones say. N breaks the
/// context and is neither counted nor scored. Const calls are thread-safe.
class MarkovModel {
public:
    /// 0 to 12; throws ConfigError else. Holds 4^(order + 1) counters and those of the lower orders.
    explicit MarkovModel(int order);

    int order() const { return order_; }
    /// Counts a sequence. Normalised letters; the context does not reach over its start.
    void add(std::string_view dna);
    /// Code length of a sequence given what was counted so far; sequences are independent.
    CodeLength score(std::string_view dna) const;
    /// What chains of the orders 0 to order() cost, at the cost of the longest: their probabilities are those
    /// that it interpolates.
    std::vector<CodeLength> score_all(std::string_view dna) const;

private:
    /// Calls visit(k, p) with the probability of each order k up to `length`.
    template <typename Visit>
    void probabilities(std::uint32_t context, int length, int base, Visit visit) const;

    int order_;
    std::vector<std::vector<std::uint64_t>> counts_;  ///< by order: 4^(order + 1)
};

}  // namespace bigbird::baselines
