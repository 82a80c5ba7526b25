// SPDX-License-Identifier: Apache-2.0
// Computes a pretrained model's figures on held-out documents, for `evaluate-mlm`.
#pragma once

#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/pretraining/masked/mlm_scoring.hpp"
#include "bigbird/pretraining/specs/pretrain_spec.hpp"

#include <string>
#include <vector>

namespace bigbird::pretraining {

/// The figures of the files that the spec names, on its device. `token_scores`, if any, gets the output of
/// write_token_scores(); it is not committed. Except for their last bits, the figures depend only on the
/// inputs and the spec. Throws InputError, ConfigError, DeviceError, Stopped.
Json evaluate_mlm(const MlmEvaluationSpec& spec, genome::TextOutput* token_scores = nullptr);

/// The result as lines for people.
std::vector<std::string> mlm_table(const Json& report);

}  // namespace bigbird::pretraining
