// SPDX-License-Identifier: Apache-2.0
// "bert.": embeddings, encoder layers, pooler. (batch, length, hidden) throughout.
#pragma once

#include "bigbird/attention/attention.hpp"
#include "bigbird/attention/feature_attention.hpp"
#include "bigbird/attention/window_attention.hpp"
#include "bigbird/model/files/config.hpp"
#include "bigbird/model/layers/dropout.hpp"
#include "bigbird/model/layers/fused_steps.hpp"
#include "bigbird/model/layers/layers.hpp"

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>

#include <array>
#include <memory>
#include <optional>
#include <vector>

namespace bigbird::model {

/// A batch of sequences with equal block counts, so that results do not depend on the rest of the batch
/// (batching.hpp makes such batches). length is a multiple of the block size. Padding has mask 0.
struct EncoderInput {
    at::Tensor input_ids;       // (batch, length) int64
    at::Tensor token_type_ids;  // (batch, length) int64
    at::Tensor attention_mask;  // (batch, length) bool, true = real token
    /// Only for a Longformer: (batch, length) bool, true = global; undefined: the leading num_global_tokens.
    at::Tensor global_attention_mask = {};
};

struct EncoderOutput {
    at::Tensor hidden;                      // (batch, length, hidden), the last layer
    std::vector<at::Tensor> hidden_states;  // embeddings and the output of every layer, on request
};

/// Replaces word embeddings, so that a token model is a differentiable function of its input. While an object
/// exists, encoders on this thread use these vectors, (batch, length, hidden), instead of the
/// word embeddings of EncoderInput::input_ids. Positions, token types and masks stay.
class WordVectors {
public:
    explicit WordVectors(at::Tensor vectors);
    ~WordVectors();
    WordVectors(const WordVectors&) = delete;
    WordVectors& operator=(const WordVectors&) = delete;

    /// This thread's vectors; undefined if there are none.
    static const at::Tensor& current() { return own(); }

private:
    static at::Tensor& own();

    at::Tensor before_;
};

/// Word, position (if absolute) and token type embeddings, preceded by the embeddings of extra global tokens,
/// if any. Dropout is before LayerNorm, as in transformers' BigBird, but not as in its BERT and Longformer.
/// Positions of a Longformer count only real tokens. An optional convolution follows the norm. Published
/// encoders may lack types and the norm (published.hpp).
class EmbeddingsImpl : public torch::nn::Module {
public:
    explicit EmbeddingsImpl(const BigBirdConfig& config);
    /// (batch, front + length, hidden)
    /// `fused`: fused_type().
    at::Tensor forward(const EncoderInput& input, const DropoutKey& key,
                       std::optional<at::ScalarType> fused) const;

    Embedding word_embeddings{nullptr}, position_embeddings{nullptr}, token_type_embeddings{nullptr},
        global_embeddings{nullptr};  ///< the last one empty without extra global tokens

private:
    /// Scaled as ESM's token_dropout does.
    at::Tensor without_dropped(const at::Tensor& words, const EncoderInput& input) const;
    /// The convolution of each feature over neighboring positions, without padding. x: (batch, length,
    /// hidden).
    at::Tensor convolved(const at::Tensor& x, const at::Tensor& mask) const;

    at::Tensor convolution_;  // (hidden, 1, width); undefined: none
    LayerNorm norm_{nullptr};
    double dropout_;
    double word_scale_;
    std::int64_t front_;
    PublishedForm published_;
    bool counted_, drops_last_;  ///< positions count real tokens; dropout after the norm
};
TORCH_MODULE(Embeddings);

/// Data that all layers of one forward pass share.
struct PassContext {
    at::Tensor mask;  // (batch, front + length) bool
    DropoutKey key;
    attention::Backend backend = attention::Backend::automatic;
    int blocks = 0;
    std::optional<at::ScalarType> fused = std::nullopt;  ///< fused_type()
    bool packed = false;                                 ///< queries, keys and values by packed_linear()
    RotaryTable rotary = {};                             ///< undefined without rotary positions
    RotaryTable window_rotary = {};                      ///< of a published form's layers with a window
    std::int64_t redraw = 0;                             ///< the draw of a Performer's features
    attention::GlobalTokens globals = {};                ///< of a Longformer
};

/// How the layers of an encoder attend: one of three ways.
struct AttentionPlan {
    std::shared_ptr<attention::LayoutCache> layouts;  ///< by blocks
    std::shared_ptr<attention::LayoutCache>
        windowed;  ///< by blocks, in a published form's layers with a window
    std::shared_ptr<attention::FeatureCache> features;  ///< by random features
    std::shared_ptr<attention::WindowLayouts> windows;  ///< by windows and global tokens of each sample
};

/// Attention and feed-forward, each followed by dropout, residual and LayerNorm; or, with Norm::pre, each
/// preceded by LayerNorm and followed by dropout and residual.
class EncoderLayerImpl : public torch::nn::Module {
public:
    EncoderLayerImpl(const BigBirdConfig& config, int layer, AttentionPlan plan);
    at::Tensor forward(const at::Tensor& x, const PassContext& pass) const;

private:
    at::Tensor attend(const at::Tensor& x, const PassContext& pass) const;
    /// Queries, keys and values, and the result: (batch, heads, length, head_dim).
    at::Tensor attend_blocks(const std::array<at::Tensor, 3>& of_heads, const PassContext& pass,
                             const at::TensorOptions& of_factors) const;
    /// x: (batch, length, hidden), for the projections of global tokens.
    at::Tensor attend_windows(const std::array<at::Tensor, 3>& of_heads, const at::Tensor& x,
                              const PassContext& pass) const;
    /// Queries, keys and values, (batch, length, hidden) each.
    std::array<at::Tensor, 3> project(const at::Tensor& x, const PassContext& pass) const;
    at::Tensor expand(const at::Tensor& x, const PassContext& pass) const;
    /// Both linear layers of the feed-forward part, plus the residual.
    at::Tensor feed_forward(const at::Tensor& x, const at::Tensor& residual, const PassContext& pass) const;
    /// The projection of y, with dropout, plus the residual.
    at::Tensor project_and_add(const Linear& projection, const at::Tensor& y, const at::Tensor& residual,
                               DropoutSite::Place place, const PassContext& pass) const;
    at::Tensor project_and_norm(const Linear& projection, const at::Tensor& y, const at::Tensor& residual,
                                const LayerNorm& norm, DropoutSite::Place place,
                                const PassContext& pass) const;

    Linear query_{nullptr}, key_{nullptr}, value_{nullptr}, query_key_value_{nullptr}, query_global_{nullptr},
        key_global_{nullptr}, value_global_{nullptr}, attention_output_{nullptr}, intermediate_{nullptr},
        gate_{nullptr}, output_{nullptr};
    LayerNorm attention_norm_{nullptr}, output_norm_{nullptr};  ///< the first may be missing
    AttentionPlan plan_;
    std::string activation_;
    double dropout_, probability_dropout_;
    std::int64_t heads_;
    int layer_;
    bool norm_first_, windowed_, joined_gate_;
};
TORCH_MODULE(EncoderLayer);

/// BigBirdModel.
class BigBirdModelImpl : public torch::nn::Module {
public:
    explicit BigBirdModelImpl(const BigBirdConfig& config);
    /// Throws InputError if the length is above the model's positions, ConfigError if the pattern's
    /// random blocks cannot be drawn.
    EncoderOutput forward(const EncoderInput& input, bool all_hidden_states, const DropoutKey& key);
    /// tanh of a linear layer on the first position: (batch, length, hidden) -> (batch, hidden).
    at::Tensor pool(const at::Tensor& hidden) const;

    const BigBirdConfig& config() const { return config_; }
    const at::Tensor& word_embeddings() const {
        return embeddings_->word_embeddings->weight;
    }  // (vocab, hidden)
    /// fused_type() for the network's current mode.
    std::optional<at::ScalarType> fused() const;
    void set_attention_backend(attention::Backend backend) { backend_ = backend; }
    void set_recompute(bool recompute) { recompute_ = recompute; }
    void set_packed_projections(std::optional<bool> packed) { packed_ = packed; }
    void set_redraw(std::int64_t redraw);

private:
    bool is_packed() const;
    /// For sequences of `length`; made once for the longest.
    RotaryTable rotary(std::int64_t length, const at::Device& device, const RotaryForm& form,
                       RotaryTable& made);

    BigBirdConfig config_;
    Embeddings embeddings_{nullptr};
    std::vector<EncoderLayer> layers_;
    LayerNorm norm_{nullptr};  // after the last layer, if norms precede blocks
    Linear pooler_{nullptr};
    RotaryTable rotary_, window_rotary_;
    attention::Backend backend_ = attention::Backend::automatic;
    bool recompute_ = false;
    std::optional<bool> packed_;
};
TORCH_MODULE(BigBirdModel);

}  // namespace bigbird::model
