// SPDX-License-Identifier: Apache-2.0
// The names that transformers gives to a Longformer's weights. Within the program, the parameters of all
// networks have BigBird's names.
#pragma once

#include <string>
#include <string_view>

namespace bigbird::model {

/// "bert.pooler.weight" -> "longformer.pooler.dense.weight", "cls.predictions.bias" -> "lm_head.bias".
/// Next-sentence prediction, which a LongformerForMaskedLM lacks, keeps its name.
std::string longformer_name(std::string_view ours);
/// The opposite; also for a LongformerModel's names without "longformer.".
std::string name_of_longformer(std::string_view theirs);
/// Whether a file with this tensor is a Longformer's.
bool is_longformer_name(std::string_view name);

}  // namespace bigbird::model
