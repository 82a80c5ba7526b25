// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/baselines/sequence/context_counts.hpp"

#include <string_view>
#include <vector>

namespace bigbird::baselines {

/// Each base by the `reach` bases on either side of it, by ContextCounts: the base before, the base behind,
/// the next one before … A masked model sees both sides, too; but this one sees all neighbours, where a
/// masked token's own bases are all hidden. N breaks the context and is neither counted nor scored. Const
/// calls are thread-safe.
class TwoSidedModel {
public:
    /// 0 to 6; throws ConfigError else.
    explicit TwoSidedModel(int reach);

    int reach() const { return counts_.order() / 2; }
    /// Counts a sequence. Normalised letters; the context does not reach over its ends.
    void add(std::string_view dna);
    /// What models of the reaches 0 to reach() cost, given what was counted so far.
    std::vector<CodeLength> score_all(std::string_view dna) const;

private:
    ContextCounts counts_;
};

}  // namespace bigbird::baselines
