// SPDX-License-Identifier: Apache-2.0
// A pretrained model's figures on held-out documents, as `evaluate-mlm` reports them.
#pragma once

#include "bigbird/core/json_file.hpp"
#include "bigbird/corpus/document_reader.hpp"
#include "bigbird/corpus/example_stream.hpp"
#include "bigbird/train/mlm_scoring.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace bigbird::train {

struct MlmEvaluationSpec {
    std::int32_t sequence_length = 0;  ///< 0: that of the model's pretraining, or all its positions
    std::string nsp = "model";         ///< "on", "off", or as in the model's pretraining
    corpus::MaskingSpec masking{.rate = 0.15, .mask = 1, .random = 0};
    std::uint64_t seed = 0;
    ScoringSpec scoring;
    std::vector<int> baseline_orders{0, 5, 10};
    int threads = 1;
};

/// Documents to read once, each.
struct MlmEvaluationInputs {
    std::filesystem::path model;  ///< a model folder
    corpus::DocumentReader* held_out = nullptr;
    corpus::DocumentReader* baseline =
        nullptr;  ///< what the Markov chains are trained on; none: no baselines
};

/// Throws InputError, ConfigError, Stopped. All but the last bits of the
/// figures follow from the inputs and the spec.
Json evaluate_mlm(const MlmEvaluationInputs& inputs, const MlmEvaluationSpec& spec);

/// The result as lines for people.
std::vector<std::string> mlm_table(const Json& report);

}  // namespace bigbird::train
