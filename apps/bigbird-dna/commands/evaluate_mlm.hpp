// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "options/option_groups.hpp"

#include "bigbird/pretraining/specs/pretrain_spec.hpp"

namespace bigbird::cli {

struct EvaluateMlmOptions {
    pretraining::MlmEvaluationSpec spec;
    OutputOptions output;
    std::filesystem::path token_scores;
};

}  // namespace bigbird::cli
