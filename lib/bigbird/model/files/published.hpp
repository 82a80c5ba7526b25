// SPDX-License-Identifier: Apache-2.0
// Encoders that others published as Hugging Face folders: ModernBERT, ESM (Nucleotide Transformer), BERT with
// ALiBi (DNABERT-2), GENA-LM's BERT and BERT (DNABERT-1). The names and shapes of the weights say which form
// a folder has; config.json gives the numbers. No code of the folder is run.
#pragma once

#include "bigbird/core/formats/json_file.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace bigbird::model {

/// What distinguishes the encoders of these families from BERT's form, beside EncoderForm's other fields.
struct PublishedForm {
    std::string family{};  ///< "modernbert", "esm", "bert-alibi", "bert-pre-norm", "bert"; empty: none
    bool counted_positions = false;   ///< positions count the tokens except [PAD], from pad_token_id + 1
    bool alibi = false;               ///< scores - slope of the head * distance (Press and others 2021)
    bool joined_projections = false;  ///< queries, keys and values are the rows of one matrix
    bool joined_gate = false;         ///< act(W x) * V x, where V's rows follow W's in one matrix
    bool token_types = true, embedding_norm = true;
    bool masked_embeddings = false;  ///< embeddings of [PAD] are 0
    /// ESM's token_dropout: the embedding of this id is 0, others are scaled by 0.88 / (1 - its share). -1:
    /// no.
    std::int64_t dropped_token = -1;
    bool first_norm = true;  ///< whether there is a norm before the attention of the first layer
    bool final_norm = true;  ///< whether there is a norm after the last layer, if norms precede blocks
    bool norm_bias = true, output_bias = true, inner_bias = true, outer_bias = true, head_bias = true;
    bool tied_decoder = true;
    std::string head_activation{};  ///< of masked-token prediction; empty: hidden_act
    double head_norm_eps = 0;       ///< 0: layer_norm_eps
    /// Layers, from 0, whose tokens attend only `window` tokens on each side.
    std::vector<std::int64_t> windowed_layers{};
    std::int64_t window = 0;
    double window_theta = 10'000;  ///< base of the rotary angles in these layers

    bool operator==(const PublishedForm&) const = default;
    bool is_windowed(std::int64_t layer) const {
        return std::ranges::find(windowed_layers, layer) != windowed_layers.end();
    }
};

struct BigBirdConfig;

class Keys;
/// Reads "published_form" of a model that this program wrote.
PublishedForm read_published_form(const Keys& keys);
void write_published_form(const PublishedForm& form, Json& json);

/// Names and shapes of a folder's tensors, as in its files.
using WeightShapes = std::map<std::string, std::vector<std::int64_t>>;

/// Whether config.json is one of a folder that this program or transformers' big_bird or longformer wrote.
bool is_own_config(const Json& config);

/// The configuration of a published folder. `where`: its config.json. Throws InputError if the weights fit no
/// form, naming the one that they resemble and what lacks; if config.json contradicts the form; or if the
/// model needs what this program does not compute (DeepSpeed's sparse attention).
BigBirdConfig published_config(const Json& config, const WeightShapes& shapes,
                               const std::filesystem::path& where);
/// "ModernBERT".
std::string_view title_of_family(std::string_view family);

/// The family to which tensors with such names belong; empty if none, or a folder of this program.
std::string_view family_of(const std::vector<std::string>& names);
/// The name of a tensor in this program ("bert.encoder.layer.0.output.dense.weight"); empty if it is not
/// used. `is_classifier`: whether the file has a classifier, which gives ModernBERT's "head" another meaning.
std::string own_name(std::string_view family, std::string_view theirs, bool is_classifier = false);
/// The opposite.
std::string published_name(std::string_view family, std::string_view own);

}  // namespace bigbird::model
