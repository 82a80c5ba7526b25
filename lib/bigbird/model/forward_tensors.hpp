// SPDX-License-Identifier: Apache-2.0
// One forward pass of a model over given tensors, for checks of parity with transformers.
#pragma once

#include "bigbird/attention/attention.hpp"
#include "bigbird/model/safetensors.hpp"

#include <filesystem>
#include <string>

namespace bigbird::model {

struct ForwardSpec {
    std::string type = "fp32";  ///< fp64, fp32 or bf16: the outputs' type and the arithmetic (device.hpp)
    attention::Backend backend = attention::Backend::automatic;
};

/// inputs: input_ids, and optionally attention_mask (1 = real; default 1), token_type_ids (default 0) and,
/// for a Longformer, global_attention_mask (1 = global; default: the leading num_global_tokens), (batch,
/// length), any integer or bool type. Outputs, on the CPU: hidden_states.0 (embeddings) .. hidden_states.N
/// (batch, length, hidden), and what the architecture of config.json adds:
///   BigBirdForPreTraining             prediction_logits (batch, length, vocab), seq_relationship_logits
///                                     (batch, 2)
///   BigBirdForMaskedLM                logits (batch, length, vocab), and the same as prediction_logits
///   BigBirdForSequenceClassification  logits (batch, labels)
///   BigBirdForTokenClassification     logits (batch, length, labels)
///   BigBirdForQuestionAnswering       start_logits, end_logits (batch, length). The question reaches up to
///                                     the first sep_token_id, or has question_lengths (batch, 1) tokens;
///                                     token_type_ids are by default 0 in it and 1 behind it
///                                     (0 everywhere where type_vocab_size is 1)
///   BigBirdForMultipleChoice          logits (batch, choices); inputs are (batch, choices, length), and
///                                     hidden states (batch * choices, length, hidden)
///   BigBirdModel                      pooler_output (batch, hidden), where there is a pooler
///   LongformerForMaskedLM, …ForSequenceClassification, LongformerModel: as BigBird's
/// For other models only the encoder is computed, with a warning. The tensor's full length decides between
/// full and sparse attention, as in transformers, and is padded to full blocks inside. Throws InputError
/// if a tensor of the input or of the model is missing or misshapen, or an id is beyond the vocabulary;
/// ConfigError for an unknown type.
TensorMap forward_tensors(const std::filesystem::path& directory, const TensorMap& inputs,
                          const ForwardSpec& spec, const at::Device& device);

}  // namespace bigbird::model
