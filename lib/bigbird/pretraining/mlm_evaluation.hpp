// SPDX-License-Identifier: Apache-2.0
// A pretrained model's figures on held-out documents, as `evaluate-mlm` reports them.
#pragma once

#include "bigbird/baselines/sequence/baselines.hpp"
#include "bigbird/core/json_file.hpp"
#include "bigbird/corpus/tokens/example_stream.hpp"
#include "bigbird/corpus/tokens/token_corpus.hpp"
#include "bigbird/pretraining/mlm_scoring.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace bigbird::pretraining {

struct MlmEvaluationSpec {
    std::int32_t sequence_length = 0;  ///< 0: that of the model's pretraining, or all its positions
    std::string nsp = "model";         ///< "on", "off", or as in the model's pretraining
    corpus::MaskingSpec masking{.rate = 0.15, .mask = 1, .random = 0};
    std::uint64_t seed = 0;
    ScoringSpec scoring;
    baselines::BaselineSpec baselines{.orders = {0, 5, 10}, .ngrams = {3}};
    int threads = 1;
};

/// Gives a corpus made with the model's tokenizer.
using CorpusOf = std::function<corpus::TokenCorpus(const tokenizer::DnaTokenizer&)>;

struct MlmEvaluationInputs {
    std::filesystem::path model;  ///< a model folder
    CorpusOf held_out;
    CorpusOf baseline;  ///< what the baselines are trained on; none: no baselines
};

/// Throws InputError, ConfigError, Stopped. All but the last bits of the
/// figures follow from the inputs and the spec.
Json evaluate_mlm(const MlmEvaluationInputs& inputs, const MlmEvaluationSpec& spec);

/// The result as lines for people.
std::vector<std::string> mlm_table(const Json& report);

}  // namespace bigbird::pretraining
