// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/attention/features/random_features.hpp"
#include "bigbird/attention/pattern/pattern.hpp"
#include "bigbird/core/choice.hpp"
#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/model/files/longformer.hpp"
#include "bigbird/model/files/published.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace bigbird::model {

// The architectural variants ("forms") of an encoder.

/// LayerNorm before each block, and once after the last layer; or after each block, as in BERT.
enum class Norm : std::uint8_t { pre, post };
inline constexpr Choices<Norm, 2> norm_choices{{{Norm::pre, "pre"}, {Norm::post, "post"}}};

/// How attention knows positions. absolute: vectors added to the embeddings, as in BERT. rotary: queries and
/// keys rotated by angles (layers.hpp). none: not at all.
enum class Positions : std::uint8_t { absolute, rotary, none };
inline constexpr Choices<Positions, 3> position_choices{
    {{Positions::absolute, "absolute"}, {Positions::rotary, "rotary"}, {Positions::none, "none"}}};

/// How rotary positions are scaled for contexts longer than in training. none: not at all. linear: each
/// position is divided by the factor (Chen and others 2023). ntk ("NTK-aware"): the base of the angles is
/// multiplied by factor ^ (d / (d - 2)), d features per head, so that the slowest angle equals `linear`'s and
/// the fastest stays.
enum class RopeScaling : std::uint8_t { none, linear, ntk };
inline constexpr Choices<RopeScaling, 3> rope_scaling_choices{
    {{RopeScaling::none, "default"}, {RopeScaling::linear, "linear"}, {RopeScaling::ntk, "ntk"}}};

/// The angles of rotary positions: rope_theta and rope_scaling of config.json.
struct RotaryForm {
    double theta = 10'000;
    RopeScaling scaling = RopeScaling::none;
    double factor = 1;
    bool operator==(const RotaryForm&) const = default;
};

/// plain: act(W x), as in BERT. gated: act(W x) * V x.
enum class FeedForward : std::uint8_t { plain, gated };
inline constexpr Choices<FeedForward, 2> feed_forward_choices{
    {{FeedForward::plain, "plain"}, {FeedForward::gated, "gated"}}};

/// Initial weights of matrices: normal with the standard deviation initializer_range, as in BERT, or 1 /
/// sqrt(inputs).
enum class Initialization : std::uint8_t { normal, fan_in };
inline constexpr Choices<Initialization, 2> initialization_choices{
    {{Initialization::normal, "normal"}, {Initialization::fan_in, "fan_in"}}};

/// An encoder's form; by default BERT's, which is also that of transformers' big_bird.
struct EncoderForm {
    Norm norm = Norm::post;
    Positions positions = Positions::absolute;
    RotaryForm rotary = {};  ///< where positions are rotary
    FeedForward feed_forward = FeedForward::plain;
    Initialization initialization = Initialization::normal;
    /// Width of a convolution over the embeddings after their norm, separate for each feature; 0: none.
    std::int64_t embedding_convolution = 0;
    PublishedForm published = {};  ///< what else encoders of other families have
    bool operator==(const EncoderForm&) const = default;
    /// Whether transformers' big_bird computes the same.
    bool is_big_bird() const { return *this == EncoderForm{}; }
};

/// The keys and defaults of a Hugging Face `big_bird` config.json, with our additions (random_blocks_source,
/// random_blocks_seed, …), or of a `longformer`'s (longformer.hpp). If the form is not BERT's, or attention
/// is a Performer's, the model_type is `bigbird_dna`. The keys norm, position_embedding_type, feed_forward,
/// initialization, embedding_convolution and published_form then give the form; rotary positions have
/// rope_theta and rope_scaling, {"rope_type": "linear" or "ntk", "factor": 2.0}.
struct BigBirdConfig {
    std::int64_t vocab_size = 32'000;
    std::int64_t hidden_size = 768, num_hidden_layers = 12, num_attention_heads = 12,
                 intermediate_size = 3072;
    std::int64_t max_position_embeddings = 4096, type_vocab_size = 2;
    std::string hidden_act = "gelu_new";
    /// Dropout on attention probabilities is applied only to fully attending (short) sequences, as in
    /// transformers.
    double hidden_dropout_prob = 0.1, attention_probs_dropout_prob = 0.0;
    std::optional<double> classifier_dropout;  ///< none: hidden_dropout_prob
    double layer_norm_eps = 1e-12, initializer_range = 0.02;
    bool use_bias = true, rescale_embeddings = false;
    std::int64_t pad_token_id = 0;
    EncoderForm form;
    attention::PatternSpec pattern;
    /// attention_type "performer": attention by random features. Then only the block size of `pattern` is
    /// used; sequences are padded to its multiples.
    std::optional<attention::FeatureSpec> performer;
    /// model_type "longformer", or attention_type "longformer" in a bigbird_dna: windows and global tokens.
    /// Then only the block size of `pattern` is used. Positions count the tokens except [PAD], from
    /// pad_token_id + 1.
    std::optional<LongformerForm> longformer;
    /// BigBird-ETC: number of learned tokens in front of every sequence, which attend all and are attended by
    /// all. They fill pattern.global_blocks blocks (pattern.globals first), the rest of which is masked.
    /// Inputs and outputs do not contain them. 0: none.
    std::int64_t extra_global_tokens = 0;
    std::int64_t num_labels = 0;  ///< task models only
    /// Or "linear" (the paper's layer on [CLS]), "bins" (norm and layer on bins), "tokens" (layer on each).
    std::string classifier_head = "classification";
    /// Entries that the network does not need: task, window, provenance …. They are under "bigbird_dna" in
    /// config.json, and are kept when a model is loaded and saved.
    Json extra = Json::object();

    /// The longest sequence: max_position_embeddings, without a Longformer's first pad_token_id + 1, which
    /// are not usable; nor are they where a published form counts positions.
    std::int64_t positions() const;
    bool is_published() const { return !form.published.family.empty(); }
    /// Tokens in front of a sequence inside the network: full blocks.
    std::int64_t front_tokens() const;
    /// Throws ConfigError naming the key.
    void validate() const;
};

/// tiny 2x128x2, small 4x256x4, base 12x768x12, large 24x1024x16 (layers x hidden x heads). tiny-modern
/// 2x128x2 and modern 8x512x8: norm before, rotary positions, first weights by fan-in, a convolution of width
/// 3, no dropout.
/// genomics: the paper's network for DNA, which is base. base-etc: base as the paper's BigBird-ETC, 256 extra
/// global tokens, blocks of 84, no random ones, 4,116 positions (49 blocks). Throws ConfigError listing the
/// names.
BigBirdConfig preset(const std::string& name);

/// Reads a folder's config.json and, if others published it (published.hpp), the names and shapes of its
/// weights. Throws InputError.
BigBirdConfig config_of_folder(const std::filesystem::path& directory);

/// Reads config.json's content. Without random_blocks_source, the model is from transformers and means `hf`;
/// but with num_extra_global_tokens, which transformers does not know, it means `uniform`. `where` names the
/// file in errors (InputError). Unknown keys are ignored.
BigBirdConfig config_from_json(const Json& json, const std::filesystem::path& where);
/// Returns JSON that transformers can read, too; except a dilated Longformer, which it lacks: that becomes a
/// `bigbird_dna`. `architecture`: "BigBirdForPreTraining", "BigBirdForSequenceClassification",
/// "BigBirdForTokenClassification" or "BigBirdForBins"; a Longformer's are called "LongformerForMaskedLM" and
/// so on.
Json config_to_json(const BigBirdConfig& config, const std::string& architecture);
/// The entries of "performer" in config.json.
Json performer_json(const attention::FeatureSpec& spec);

}  // namespace bigbird::model
