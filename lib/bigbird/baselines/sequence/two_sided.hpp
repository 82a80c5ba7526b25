// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/baselines/sequence/context_counts.hpp"

#include <string_view>
#include <vector>

namespace bigbird::baselines {

/// Predicts each base from the `reach` bases on either side, by ContextCounts: the base before, the base
/// after, the second one before … A masked model sees both sides, too, but not the other bases of the masked
/// token; this model sees all neighbors. N breaks the context and is neither counted nor scored. Const calls
/// are thread-safe.
class TwoSidedModel {
public:
    /// 0 to 6; throws ConfigError else.
    explicit TwoSidedModel(int reach);

    int reach() const { return counts_.order() / 2; }
    /// Counts a sequence. Normalized letters; the context does not extend beyond its ends.
    void add(std::string_view dna);
    /// Code lengths of the models with reaches 0 to reach(), given the counts so far.
    std::vector<CodeLength> score_all(std::string_view dna) const;

private:
    ContextCounts counts_;
};

}  // namespace bigbird::baselines
