// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/encoder.hpp"

#include "bigbird/attention/backends.hpp"
#include "bigbird/core/check.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/model/layers/onednn_linear.hpp"
#include "bigbird/model/layers/recompute.hpp"

#include <bit>
#include <cmath>
#include <utility>

namespace bigbird::model {

namespace {

using Place = DropoutSite::Place;

/// Returns the first `count` rows. Padding of a sequence's last block may reach past the last position; it is
/// masked, and its rows are 0.
at::Tensor first_rows(const at::Tensor& weight, std::int64_t count) {
    return count <= weight.size(0) ? weight.narrow(0, 0, count)
                                   : at::constant_pad_nd(weight, {0, 0, 0, count - weight.size(0)});
}

/// Prepends the mask of the extra global tokens. The tokens are real; the padding of their last block is not.
at::Tensor mask_with_front(const at::Tensor& mask, const BigBirdConfig& config) {
    const std::int64_t front = config.front_tokens();
    if (front == 0) return mask;
    const at::Tensor real = at::arange(front, mask.options().dtype(at::kLong)) < config.extra_global_tokens;
    return at::cat({real.unsqueeze(0).expand({mask.size(0), -1}), mask}, 1);
}

/// [layer][head]
std::vector<std::vector<attention::PatternSpec>> windows_of(const BigBirdConfig& config) {
    std::vector<std::vector<attention::PatternSpec>> windows;
    for (std::int64_t layer = 0; layer < config.num_hidden_layers; ++layer) {
        windows.emplace_back();
        for (std::int64_t head = 0; head < config.num_attention_heads; ++head)
            windows.back().push_back(config.longformer->window(layer, head, config.pattern.block_size));
    }
    return windows;
}

/// The slopes of ALiBi's heads: 2^(-8 / n), 2^(-16 / n) … for the largest power of two n of heads, then every
/// second one of 2 n heads.
std::vector<float> slopes_of(std::int64_t heads) {
    const auto power = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(heads)));
    std::vector<float> slopes;
    for (std::int64_t head = 0; head < heads; ++head) {
        const double of = head < power
                              ? static_cast<double>(head + 1) / static_cast<double>(power)
                              : static_cast<double>(2 * (head - power) + 1) / static_cast<double>(2 * power);
        slopes.push_back(static_cast<float>(std::exp2(-8 * of)));
    }
    return slopes;
}

AttentionPlan attention_plan(const BigBirdConfig& config) {
    AttentionPlan plan;
    if (config.performer) {
        plan.features = std::make_shared<attention::FeatureCache>(
            *config.performer, config.hidden_size / config.num_attention_heads);
    } else if (config.longformer) {
        plan.windows = std::make_shared<attention::WindowLayouts>(windows_of(config));
    } else {
        attention::PatternSpec pattern = config.pattern;
        pattern.plan_tokens = static_cast<int>(config.max_position_embeddings);
        pattern.plan_heads = static_cast<int>(config.num_attention_heads);
        plan.layouts = std::make_shared<attention::LayoutCache>(
            pattern, pattern.plan_heads,
            config.form.published.alibi ? slopes_of(config.num_attention_heads) : std::vector<float>());
        pattern.full = false;
        pattern.kind = attention::PatternKind::longformer;
        pattern.window_tokens = static_cast<int>(config.form.published.window);
        plan.windowed = std::make_shared<attention::LayoutCache>(pattern, pattern.plan_heads);
    }
    return plan;
}

attention::GlobalTokens global_tokens(const EncoderInput& input, const BigBirdConfig& config) {
    if (!config.longformer) return {};
    return input.global_attention_mask.defined()
               ? attention::find_global_tokens(input.global_attention_mask, input.attention_mask)
               : attention::leading_global_tokens(config.longformer->global_tokens.value_or(0),
                                                  input.attention_mask);
}

/// Position ids of Longformer: real tokens count from padding + 1, padding tokens have `padding`.
at::Tensor counted_positions(const at::Tensor& ids, std::int64_t padding) {
    const at::Tensor real = ids.ne(padding).to(at::kLong);
    return real.cumsum(1) * real + padding;
}

/// Word embeddings of input_ids, or the vectors that a WordVectors object supplies instead.
at::Tensor words_of(const EncoderInput& input, const Embedding& embeddings) {
    const at::Tensor& given = WordVectors::current();
    return given.defined() ? given : embeddings->forward(input.input_ids);
}

}  // namespace

WordVectors::WordVectors(at::Tensor vectors) : before_(std::exchange(own(), std::move(vectors))) {}

WordVectors::~WordVectors() {
    own() = before_;
}

at::Tensor& WordVectors::own() {
    thread_local at::Tensor vectors;
    return vectors;
}

EmbeddingsImpl::EmbeddingsImpl(const BigBirdConfig& config)
    : dropout_(config.hidden_dropout_prob),
      word_scale_(config.rescale_embeddings ? std::sqrt(static_cast<double>(config.hidden_size)) : 1.0),
      front_(config.front_tokens()),
      published_(config.form.published),
      counted_(config.longformer.has_value() || published_.counted_positions),
      drops_last_(config.longformer.has_value() || config.is_published()) {
    word_embeddings = register_module("word_embeddings",
                                      Embedding(config.vocab_size, config.hidden_size, config.pad_token_id));
    if (config.form.positions == Positions::absolute) {
        position_embeddings = register_module("position_embeddings",
                                              Embedding(config.max_position_embeddings, config.hidden_size,
                                                        counted_ ? config.pad_token_id : -1));
    }
    if (published_.token_types)
        token_type_embeddings =
            register_module("token_type_embeddings", Embedding(config.type_vocab_size, config.hidden_size));
    if (config.extra_global_tokens > 0) {
        global_embeddings =
            register_module("global_embeddings", Embedding(config.extra_global_tokens, config.hidden_size));
    }
    if (published_.embedding_norm)
        norm_ = register_module("LayerNorm",
                                LayerNorm(config.hidden_size, config.layer_norm_eps, published_.norm_bias));
    if (config.form.embedding_convolution > 0) {
        convolution_ =
            add_group(*this, "convolution")
                ->register_parameter("weight",
                                     at::zeros({config.hidden_size, 1, config.form.embedding_convolution}));
    }
}

at::Tensor EmbeddingsImpl::convolved(const at::Tensor& x, const at::Tensor& mask) const {
    const at::Tensor real = x * mask.unsqueeze(2).to(x.scalar_type());
    return at::conv1d(real.transpose(1, 2), convolution_.to(x.scalar_type()), {}, 1, convolution_.size(2) / 2,
                      1, x.size(2))
        .transpose(1, 2);
}

at::Tensor EmbeddingsImpl::without_dropped(const at::Tensor& words, const EncoderInput& input) const {
    constexpr double kept_in_training = 1 - 0.15 * 0.8;
    const at::Tensor dropped = input.input_ids.eq(published_.dropped_token);
    const at::Tensor share = dropped.sum(1).to(at::kDouble) / input.attention_mask.sum(1).to(at::kDouble);
    const at::Tensor scale = (kept_in_training / (1 - share)).to(words.scalar_type());
    return words.masked_fill(dropped.unsqueeze(2), 0) * scale.view({-1, 1, 1});
}

at::Tensor EmbeddingsImpl::forward(const EncoderInput& input, const DropoutKey& key,
                                   std::optional<at::ScalarType> fused) const {
    const FusedDropout drop{is_training() ? dropout_ : 0, key, {Place::embeddings}};
    if (fused && !drops_last_ && front_ == 0 && !WordVectors::current().defined()) {
        return fused_embedding_norm(
            {input.input_ids, input.token_type_ids, word_embeddings->weight, position_embeddings->weight,
             token_type_embeddings->weight, word_scale_, word_embeddings->padding},
            *norm_, drop, *fused);
    }
    at::Tensor x = words_of(input, word_embeddings);  // (batch, length, hidden)
    if (word_scale_ != 1.0) x = x * word_scale_;
    if (published_.dropped_token >= 0) x = without_dropped(x, input);
    if (token_type_embeddings) x = x + token_type_embeddings->forward(input.token_type_ids);
    if (position_embeddings)
        x = x +
            (counted_
                 ? position_embeddings->forward(counted_positions(input.input_ids, word_embeddings->padding))
                 : first_rows(position_embeddings->weight, x.size(1)));
    if (drops_last_) {
        if (norm_) x = norm_->forward(x);
        if (published_.masked_embeddings) x = x * input.attention_mask.unsqueeze(2).to(x.scalar_type());
        x = dropout(x, drop.probability, key, drop.site);
        return fused ? x.to(*fused) : x;
    }
    if (front_ > 0) {
        const at::Tensor& globals = global_embeddings->weight;
        const at::Tensor front = at::constant_pad_nd(globals, {0, 0, 0, front_ - globals.size(0)});
        x = at::cat({front.unsqueeze(0).expand({x.size(0), -1, -1}), x}, 1);
    }
    if (fused) return fused_norm(x, {}, *norm_, drop, *fused);
    x = norm_->forward(dropout(x, drop.probability, key, drop.site));
    if (!convolution_.defined()) return x;
    if (front_ == 0) return convolved(x, input.attention_mask);
    const std::int64_t length = x.size(1) - front_;
    return at::cat({x.narrow(1, 0, front_), convolved(x.narrow(1, front_, length), input.attention_mask)}, 1);
}

EncoderLayerImpl::EncoderLayerImpl(const BigBirdConfig& config, int layer, AttentionPlan plan)
    : plan_(std::move(plan)),
      activation_(config.hidden_act),
      dropout_(config.hidden_dropout_prob),
      probability_dropout_(config.attention_probs_dropout_prob),
      heads_(config.num_attention_heads),
      layer_(layer),
      norm_first_(config.form.norm == Norm::pre),
      windowed_(config.form.published.is_windowed(layer)),
      joined_gate_(config.form.published.joined_gate) {
    const PublishedForm& form = config.form.published;
    const std::int64_t hidden = config.hidden_size, inner = config.intermediate_size;
    const auto norm = [&] { return LayerNorm(hidden, config.layer_norm_eps, form.norm_bias); };
    if (windowed_) plan_.layouts = plan_.windowed;
    const auto attention = add_group(*this, "attention");
    const auto self = add_group(*attention, "self");
    if (form.joined_projections) {
        query_key_value_ =
            self->register_module("query_key_value", Linear(hidden, 3 * hidden, config.use_bias));
    } else {
        query_ = self->register_module("query", Linear(hidden, hidden, config.use_bias));
        key_ = self->register_module("key", Linear(hidden, hidden, config.use_bias));
        value_ = self->register_module("value", Linear(hidden, hidden, config.use_bias));
    }
    if (config.longformer) {
        query_global_ = self->register_module("query_global", Linear(hidden, hidden));
        key_global_ = self->register_module("key_global", Linear(hidden, hidden));
        value_global_ = self->register_module("value_global", Linear(hidden, hidden));
    }
    const auto attention_output = add_group(*attention, "output");
    attention_output_ = attention_output->register_module("dense", Linear(hidden, hidden, form.output_bias));
    if (form.first_norm || layer > 0)
        attention_norm_ = attention_output->register_module("LayerNorm", norm());
    const auto intermediate = add_group(*this, "intermediate");
    intermediate_ = intermediate->register_module(
        "dense", Linear(hidden, joined_gate_ ? 2 * inner : inner, form.inner_bias));
    if (config.form.feed_forward == FeedForward::gated && !joined_gate_)
        gate_ = intermediate->register_module("gate", Linear(hidden, inner));
    const auto output = add_group(*this, "output");
    output_ = output->register_module("dense", Linear(inner, hidden, form.outer_bias));
    output_norm_ = output->register_module("LayerNorm", norm());
}

std::array<at::Tensor, 3> EncoderLayerImpl::project(const at::Tensor& x, const PassContext& pass) const {
    if (query_key_value_) {
        const std::vector<at::Tensor> parts = query_key_value_->forward(x).chunk(3, -1);
        return {parts[0], parts[1], parts[2]};
    }
    if (pass.packed && !query_->is_adapted())
        return packed_linear(x, {query_.get(), key_.get(), value_.get()});
    return {query_->forward(x), key_->forward(x), value_->forward(x)};
}

/// Attention's output before its last projection.
at::Tensor EncoderLayerImpl::attend(const at::Tensor& x, const PassContext& pass) const {
    const std::int64_t batch = x.size(0), length = x.size(1), hidden = x.size(2);
    const auto by_head = [&](const at::Tensor& y) {
        return y.unflatten(2, {heads_, hidden / heads_}).transpose(1, 2);
    };
    const RotaryTable& rotary = windowed_ ? pass.window_rotary : pass.rotary;
    const auto turned = [&](const at::Tensor& y) {
        return rotary.cosine.defined() ? rotate(by_head(y), rotary) : by_head(y);
    };
    const auto [query, key, value] = project(x, pass);
    const std::array<at::Tensor, 3> of_heads{turned(query), turned(key), by_head(value)};
    at::Tensor context;
    if (plan_.features) {
        const at::Tensor features = plan_.features->get(pass.redraw, layer_, x.device());
        context = attention::feature_attention(of_heads[0], of_heads[1], of_heads[2], pass.mask, features,
                                               plan_.features->kernel());
    } else {
        context =
            plan_.windows ? attend_windows(of_heads, x, pass) : attend_blocks(of_heads, pass, x.options());
    }
    return context.transpose(1, 2).reshape({batch, length, hidden});
}

at::Tensor EncoderLayerImpl::attend_blocks(const std::array<at::Tensor, 3>& of_heads, const PassContext& pass,
                                           const at::TensorOptions& of_factors) const {
    const auto& [query, key, value] = of_heads;
    const std::int64_t batch = query.size(0), length = query.size(2);
    const auto layout = plan_.layouts->get(pass.blocks, layer_, query.device(), is_training());
    at::Tensor factors;
    if (is_training() && layout->full && probability_dropout_ > 0) {
        factors = dropout_factors({batch, heads_, length, length}, of_factors.requires_grad(false),
                                  probability_dropout_, pass.key, {Place::attention_probabilities, layer_});
    }
    return attention::sparse_attention(query, key, value, pass.mask, *layout, pass.backend, factors);
}

at::Tensor EncoderLayerImpl::attend_windows(const std::array<at::Tensor, 3>& of_heads, const at::Tensor& x,
                                            const PassContext& pass) const {
    const auto& [query, key, value] = of_heads;
    const attention::GlobalTokens& tokens = pass.globals;
    const auto layout = plan_.windows->get(pass.blocks, tokens.most(), layer_, x.device());
    const at::Tensor local = attention::window_attention(query, key, value, tokens, *layout, pass.backend);
    if (tokens.most() == 0) return local;
    const auto by_head = [&](const at::Tensor& y) {
        return y.view({y.size(0), y.size(1), heads_, -1}).transpose(1, 2);
    };
    const at::Tensor queries = query_global_->forward(attention::global_rows(x, tokens));
    return attention::with_global_rows(local, by_head(queries), by_head(key_global_->forward(x)),
                                       by_head(value_global_->forward(x)), pass.mask, tokens);
}

at::Tensor EncoderLayerImpl::expand(const at::Tensor& x, const PassContext& pass) const {
    if (joined_gate_) {
        const std::vector<at::Tensor> halves = intermediate_->forward(x).chunk(2, -1);
        return activation(activation_, halves[0]) * halves[1];
    }
    const bool by_tanh = activation_ == "gelu_new" || activation_ == "gelu_pytorch_tanh";
    if (pass.fused && by_tanh && intermediate_->bias.numel() % 8 == 0 && !intermediate_->is_adapted())
        return fused_bias_gelu(at::linear(x, intermediate_->weight), intermediate_->bias, *pass.fused);
    const at::Tensor expanded = intermediate_->forward_and_activate(x, activation_);
    return gate_ ? expanded * gate_->forward(x) : expanded;
}

at::Tensor EncoderLayerImpl::project_and_add(const Linear& projection, const at::Tensor& y,
                                             const at::Tensor& residual, Place place,
                                             const PassContext& pass) const {
    if (!is_training()) return projection->forward_and_add(y, residual);
    return dropout(projection->forward(y), dropout_, pass.key, {place, layer_}) + residual;
}

at::Tensor EncoderLayerImpl::project_and_norm(const Linear& projection, const at::Tensor& y,
                                              const at::Tensor& residual, const LayerNorm& norm, Place place,
                                              const PassContext& pass) const {
    if (!pass.fused) return norm->forward(project_and_add(projection, y, residual, place, pass));
    return fused_norm(projection->forward(y), residual, *norm,
                      {is_training() ? dropout_ : 0, pass.key, {place, layer_}}, *pass.fused);
}

at::Tensor EncoderLayerImpl::feed_forward(const at::Tensor& x, const at::Tensor& residual,
                                          const PassContext& pass) const {
    if (is_training() || pass.fused || intermediate_->is_adapted() || !has_onednn_linear(x))
        return project_and_add(output_, expand(x, pass), residual, Place::output, pass);
    FeedForwardWeights weights{intermediate_->weight, intermediate_->bias, {}, {},
                               output_->weight,       output_->bias};
    if (gate_) {
        weights.gate = gate_->weight;
        weights.gate_bias = gate_->bias;
    }
    if (joined_gate_) {
        const std::int64_t inner = output_->weight.size(1);
        const auto second_half = [&](at::Tensor& both) {
            const at::Tensor half = both.defined() ? both.narrow(0, inner, inner) : both;
            if (both.defined()) both = both.narrow(0, 0, inner);
            return half;
        };
        weights.gate = second_half(weights.weight);
        weights.gate_bias = second_half(weights.bias);
    }
    return onednn_feed_forward(x, weights, activation_, residual);
}

at::Tensor EncoderLayerImpl::forward(const at::Tensor& x, const PassContext& pass) const {
    const LoraDropout of_adapters(pass.key);
    if (norm_first_) {
        const at::Tensor y = attention_norm_ ? attention_norm_->forward(x) : x;
        const at::Tensor attended =
            project_and_add(attention_output_, attend(y, pass), x, Place::attention_output, pass);
        return feed_forward(output_norm_->forward(attended), attended, pass);
    }
    const at::Tensor attended = project_and_norm(attention_output_, attend(x, pass), x, attention_norm_,
                                                 Place::attention_output, pass);
    if (!pass.fused) return output_norm_->forward(feed_forward(attended, attended, pass));
    return project_and_norm(output_, expand(attended, pass), attended, output_norm_, Place::output, pass);
}

BigBirdModelImpl::BigBirdModelImpl(const BigBirdConfig& config) : config_(config) {
    config_.validate();
    embeddings_ = register_module("embeddings", Embeddings(config_));
    const AttentionPlan plan = attention_plan(config_);
    const auto encoder = add_group(*this, "encoder");
    const auto list = add_group(*encoder, "layer");
    for (int layer = 0; layer < config_.num_hidden_layers; ++layer)
        layers_.push_back(list->register_module(std::to_string(layer), EncoderLayer(config_, layer, plan)));
    const PublishedForm& form = config_.form.published;
    if (config_.form.norm == Norm::pre && form.final_norm)
        norm_ = encoder->register_module(
            "LayerNorm", LayerNorm(config_.hidden_size, config_.layer_norm_eps, form.norm_bias));
    pooler_ = register_module("pooler", Linear(config_.hidden_size, config_.hidden_size));
}

EncoderOutput BigBirdModelImpl::forward(const EncoderInput& input, bool all_hidden_states,
                                        const DropoutKey& key) {
    const std::int64_t length = input.input_ids.size(1), block = config_.pattern.block_size;
    BIGBIRD_EXPECTS(length % block == 0, "the length must be a multiple of the block size");
    if (length >= config_.positions() + block) {
        throw InputError("a sequence of " + std::to_string(length) + " tokens is longer than the model's " +
                         std::to_string(config_.positions()) + " positions");
    }
    const std::int64_t front = config_.front_tokens();
    const at::Device device = input.input_ids.device();
    const RotaryForm window_form{.theta = config_.form.published.window_theta};
    const PassContext pass{.mask = mask_with_front(input.attention_mask, config_),
                           .key = key,
                           .backend = backend_,
                           .blocks = static_cast<int>((front + length) / config_.pattern.block_size),
                           .fused = fused(),
                           .packed = is_packed(),
                           .rotary = rotary(front + length, device, config_.form.rotary, rotary_),
                           .window_rotary = rotary(front + length, device, window_form, window_rotary_),
                           .redraw = config_.performer ? config_.performer->redraw : 0,
                           .globals = global_tokens(input, config_)};
    const auto of_sequence = [&](const at::Tensor& y) { return front == 0 ? y : y.narrow(1, front, length); };
    EncoderOutput out;
    at::Tensor x = embeddings_->forward(input, key, pass.fused);
    for (const EncoderLayer& layer : layers_) {
        if (all_hidden_states) out.hidden_states.push_back(of_sequence(x));
        x = recompute_ ? recomputed([layer, pass](const at::Tensor& y) { return layer->forward(y, pass); }, x)
                       : layer->forward(x, pass);
    }
    if (norm_) x = norm_->forward(x);
    if (all_hidden_states) out.hidden_states.push_back(of_sequence(x));
    out.hidden = of_sequence(x);
    return out;
}

void BigBirdModelImpl::set_redraw(std::int64_t redraw) {
    if (config_.performer) config_.performer->redraw = redraw;
}

RotaryTable BigBirdModelImpl::rotary(std::int64_t length, const at::Device& device, const RotaryForm& form,
                                     RotaryTable& made) {
    if (config_.form.positions != Positions::rotary) return {};
    if (!made.cosine.defined() || made.cosine.size(0) < length || made.cosine.device() != device)
        made = rotary_table(length, config_.hidden_size / config_.num_attention_heads, device, form);
    return made;
}

/// One packed product is faster only where three would not fill the GPU, and only while weights change in
/// each pass.
bool BigBirdModelImpl::is_packed() const {
    return packed_.value_or(!word_embeddings().is_cpu() || fused()) && at::GradMode::is_enabled();
}

std::optional<at::ScalarType> BigBirdModelImpl::fused() const {
    if (!config_.form.is_big_bird()) return std::nullopt;
    return fused_type(word_embeddings(), backend_, config_.hidden_size);
}

at::Tensor BigBirdModelImpl::pool(const at::Tensor& hidden) const {
    return at::tanh(pooler_->forward(hidden.select(1, 0)));
}

}  // namespace bigbird::model
