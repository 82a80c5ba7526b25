// SPDX-License-Identifier: Apache-2.0
// Computes a pretrained model's figures on held-out documents, for `evaluate-mlm`.
#pragma once

#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/corpus/tokens/token_corpus.hpp"
#include "bigbird/pretraining/masked/mlm_scoring.hpp"
#include "bigbird/pretraining/specs/pretrain_spec.hpp"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace bigbird::pretraining {

/// Returns a corpus made with the given tokenizer.
using CorpusOf = std::function<corpus::TokenCorpus(const tokenizer::DnaTokenizer&)>;

struct MlmEvaluationInputs {
    std::filesystem::path model;  ///< a model folder
    CorpusOf held_out;
    CorpusOf baseline;  ///< what the baselines are trained on; none: no baselines
};

/// Throws InputError, ConfigError, Stopped. Except for their last bits, the figures depend only on the inputs
/// and the spec. Uses `scoring` instead of the spec's device, dtype and batch_tokens, and ignores its paths.
Json evaluate_mlm(const MlmEvaluationInputs& inputs, const MlmEvaluationSpec& spec,
                  const ScoringSpec& scoring = {}, genome::TextOutput* token_scores = nullptr);

/// The same for the files that the spec names, on its device. `token_scores`, if any, gets the output of
/// write_token_scores(); it is not committed. Also throws DeviceError.
Json evaluate_mlm(const MlmEvaluationSpec& spec, genome::TextOutput* token_scores = nullptr);

/// The result as lines for people.
std::vector<std::string> mlm_table(const Json& report);

}  // namespace bigbird::pretraining
