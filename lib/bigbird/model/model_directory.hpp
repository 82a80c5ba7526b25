// SPDX-License-Identifier: Apache-2.0
// A model is a folder: config.json + model.safetensors (Hugging Face keys and shapes) + tokenizer.model,
// tokenizer.json and tokenizer_config.json, and for task models labels.tsv.
#pragma once

#include "bigbird/model/bigbird.hpp"
#include "bigbird/tokenizer/tokenizer.hpp"

#include <filesystem>
#include <string>

namespace bigbird::model {

/// Throws InputError if files are missing or corrupt, or the tokenizer does not fit the embeddings.
BigBirdConfig read_config(const std::filesystem::path& directory);
/// "BigBirdForPreTraining", "BigBirdForSequenceClassification" or another architecture that config.json names
/// first; empty if it names none.
std::string read_architecture(const std::filesystem::path& directory);
tokenizer::DnaTokenizer read_tokenizer(const std::filesystem::path& directory, const BigBirdConfig& config);

/// Returns a network in eval mode, fp32. Throws InputError naming a tensor that is missing, unexpected or of
/// another shape than in config.json. A file without seq_relationship (BigBirdForMaskedLM) is accepted with a
/// warning.
PreTrainingModel load_pretraining_model(const std::filesystem::path& directory, const at::Device& device);
/// Fills a network with the weights of a pretrained model of the same shapes. Missing tensors and exceptions
/// are as above; shorter learned positions are repeated (weights.hpp).
void fill_from_pretrained(PreTrainingModelImpl& model, const std::filesystem::path& directory);
/// The encoder of any model, and those parts of a pretraining network that it has; other heads are ignored.
struct LoadedEncoder {
    PreTrainingModel model{nullptr};  ///< parameters that the file lacks are zero
    bool has_pooler = false, has_predictions = false, has_seq_relationship = false;
};
LoadedEncoder load_encoder(const std::filesystem::path& directory, const at::Device& device);
SequenceClassifier load_classifier(const std::filesystem::path& directory, const at::Device& device);

/// Starts a classifier from a pretrained model's `bert.` weights; the head is initialized from `seed`.
/// `config` gives the head's shape.
SequenceClassifier classifier_from_pretrained(const std::filesystem::path& directory, BigBirdConfig config,
                                              std::uint64_t seed, const at::Device& device);
/// The same network with all weights initialized from `seed`.
SequenceClassifier untrained_classifier(BigBirdConfig config, std::uint64_t seed, const at::Device& device);

/// Writes config.json, model.safetensors and the tokenizer's files (where there is one) into an existing
/// folder (a PendingOutput's).
void write_model(const PreTrainingModel& model, const tokenizer::DnaTokenizer* tokenizer,
                 const std::filesystem::path& directory);
/// `extra` is added to the configuration's entries under "bigbird_dna".
void write_model(const SequenceClassifier& model, const tokenizer::DnaTokenizer* tokenizer,
                 const std::filesystem::path& directory, const Json& extra = Json::object());

}  // namespace bigbird::model
