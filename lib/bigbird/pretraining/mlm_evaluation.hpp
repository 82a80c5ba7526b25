// SPDX-License-Identifier: Apache-2.0
// A pretrained model's figures on held-out documents, as `evaluate-mlm` reports them.
#pragma once

#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/corpus/tokens/token_corpus.hpp"
#include "bigbird/pretraining/masked/mlm_scoring.hpp"
#include "bigbird/pretraining/specs/evaluation_spec.hpp"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace bigbird::pretraining {

/// Gives a corpus made with the model's tokenizer.
using CorpusOf = std::function<corpus::TokenCorpus(const tokenizer::DnaTokenizer&)>;

struct MlmEvaluationInputs {
    std::filesystem::path model;  ///< a model folder
    CorpusOf held_out;
    CorpusOf baseline;  ///< what the baselines are trained on; none: no baselines
};

/// Throws InputError, ConfigError, Stopped. All but the last bits of the figures follow from the inputs and
/// the spec; its paths, device, dtype and batch_tokens are ignored in favor of `scoring`.
Json evaluate_mlm(const MlmEvaluationInputs& inputs, const MlmEvaluationSpec& spec,
                  const ScoringSpec& scoring = {}, genome::TextOutput* token_scores = nullptr);

/// The same from the files that the spec names, on its device. `token_scores`, if any, takes what
/// write_token_scores() writes of each token; it is not committed. Throws DeviceError besides.
Json evaluate_mlm(const MlmEvaluationSpec& spec, genome::TextOutput* token_scores = nullptr);

/// The result as lines for people.
std::vector<std::string> mlm_table(const Json& report);

}  // namespace bigbird::pretraining
