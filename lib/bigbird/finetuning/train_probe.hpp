// SPDX-License-Identifier: Apache-2.0
// A linear probe: logistic or ridge regression on the pooled embeddings of a frozen token model. The result
// is a token model whose head is that regression.
#pragma once

#include "bigbird/finetuning/train_linear.hpp"

#include <filesystem>

namespace bigbird::tasks {

/// Fits train. ProbeKind::best: features are standardized, and the penalty has the lowest loss in a five-fold
/// cross-validation on train. ProbeKind::geneb: C = 1, features as they are; for classes and labels. `info`:
/// what the folder says, with the window and the pooling. Throws InputError without a row of train,
/// ConfigError for geneb's probe of numbers, Stopped.
SolvedModel train_probe(const FinetuneSpec& spec, const TaskInfo& info, const examples::ExampleSet& examples,
                        const std::filesystem::path& pretrained, int threads);

}  // namespace bigbird::tasks
