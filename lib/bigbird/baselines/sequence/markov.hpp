// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/baselines/sequence/context_counts.hpp"

#include <string_view>
#include <vector>

namespace bigbird::baselines {

/// A Markov chain of order k over A C G T, by ContextCounts. N breaks the context and is neither counted nor
/// scored. Const calls are thread-safe.
class MarkovModel {
public:
    /// 0 to 12; throws ConfigError else.
    explicit MarkovModel(int order);

    int order() const { return counts_.order(); }
    /// Counts a sequence. Normalized letters; the context does not extend before its start.
    void add(std::string_view dna);
    /// Code length of a sequence given what was counted so far; sequences are independent.
    CodeLength score(std::string_view dna) const;
    /// Code lengths of the chains of orders 0 to order(), in the time of the longest, which interpolates the
    /// others' probabilities.
    std::vector<CodeLength> score_all(std::string_view dna) const;

private:
    ContextCounts counts_;
};

}  // namespace bigbird::baselines
