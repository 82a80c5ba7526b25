// SPDX-License-Identifier: Apache-2.0
// The random blocks of the authors' code and of transformers, pick by pick (numpy's legacy generator).
#pragma once

#include <cstdint>
#include <vector>

namespace bigbird::attention {

/// What the plan of one layer depends on. The seed is the layer's index.
struct RandomPlanSpec {
    int blocks = 0, block_size = 64, random_blocks = 3, heads = 0;
    /// The length that the first plan is drawn for: max_position_embeddings in transformers, 4096 in the
    /// authors' code.
    int plan_tokens = 4096;
    /// The authors' code draws the first plan for 2,048 tokens too; transformers does for 1,024, 3,072,
    /// 4,096.
    bool google = false;
};

/// picks[(head * (blocks - 2) + row - 1) * random_blocks + i]: key blocks of the query blocks 1 .. blocks -
/// 2; a block may be picked that is attended already, and then counts twice. Expects (check.hpp) more than 5
/// + 2 random_blocks blocks. Throws ConfigError where the plan cannot be drawn (plan_tokens too short).
std::vector<std::int32_t> random_plan(const RandomPlanSpec& spec, std::uint32_t seed);

}  // namespace bigbird::attention
