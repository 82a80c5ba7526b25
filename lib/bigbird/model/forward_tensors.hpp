// SPDX-License-Identifier: Apache-2.0
// One pass of a model over given tensors, as anyone checks parity with transformers.
#pragma once

#include "bigbird/attention/attention.hpp"
#include "bigbird/model/safetensors.hpp"

#include <filesystem>
#include <string>

namespace bigbird::model {

struct ForwardSpec {
    std::string type = "fp32";  ///< fp64, fp32 or bf16: the outputs' type and the arithmetic (arithmetic.hpp)
    attention::Backend backend = attention::Backend::automatic;
};

/// inputs: input_ids, and where wanted attention_mask (1 = real; default 1), token_type_ids (default 0) and,
/// for a Longformer, global_attention_mask (1 = global; default: the leading num_global_tokens), (batch,
/// length), any whole or bool type. Outputs, on the CPU: hidden_states.0 (embeddings) ..
/// hidden_states.N (batch, length, hidden); from a BigBirdForPreTraining prediction_logits (batch, length,
/// vocab) and seq_relationship_logits (batch, 2), which a BigBirdForMaskedLM lacks, from a
/// BigBirdForSequenceClassification logits (batch, labels), from a BigBirdModel pooler_output (batch,
/// hidden); the same from transformers' Longformer models. Of other models the encoder alone is computed,
/// with a warning. The tensor's whole length decides between full and sparse attention, as in transformers,
/// and is padded to whole blocks inside. Throws InputError where a tensor is missing, misshapen or holds an
/// id beyond the vocabulary; ConfigError for an unknown type.
TensorMap forward_tensors(const std::filesystem::path& directory, const TensorMap& inputs,
                          const ForwardSpec& spec, const at::Device& device);

}  // namespace bigbird::model
