// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/bigbird.hpp"
#include "bigbird/model/encoder.hpp"
#include "bigbird/model/heads.hpp"
#include "bigbird/model/layers/linear_cross_entropy.hpp"

namespace bigbird::model {

struct PreTrainingModelImpl::Parts {
    explicit Parts(const BigBirdConfig& config) : bert(config), cls(config) {}
    BigBirdModel bert;
    PreTrainingHeads cls;
};

PreTrainingModelImpl::PreTrainingModelImpl(const BigBirdConfig& config)
    : parts_(std::make_shared<Parts>(config)) {
    register_module("bert", parts_->bert);
    register_module("cls", parts_->cls);
}

PreTrainingOutput PreTrainingModelImpl::forward(const EncoderInput& input, const at::Tensor& positions,
                                                const DropoutKey& key) {
    return predict(encode(input, false, key).hidden, positions);
}

EncoderOutput PreTrainingModelImpl::encode(const EncoderInput& input, bool all_hidden_states,
                                           const DropoutKey& key) {
    return parts_->bert->forward(input, all_hidden_states, key);
}

PreTrainingOutput PreTrainingModelImpl::predict(const at::Tensor& hidden, const at::Tensor& positions) {
    const at::Tensor chosen = positions.defined() ? hidden.flatten(0, 1).index_select(0, positions) : hidden;
    return {parts_->cls->predictions(chosen, parts_->bert->word_embeddings()),
            parts_->cls->seq_relationship(parts_->bert->pool(hidden))};
}

at::Tensor PreTrainingModelImpl::pool(const at::Tensor& hidden) {
    return parts_->bert->pool(hidden);
}

PreTrainingLoss PreTrainingModelImpl::loss(const at::Tensor& hidden, const at::Tensor& positions,
                                           const at::Tensor& labels, const at::Tensor& weights) {
    const at::Tensor chosen = parts_->cls->transform(hidden.flatten(0, 1).index_select(0, positions));
    const LinearCrossEntropy entropy =
        linear_cross_entropy(chosen, parts_->bert->word_embeddings(), parts_->cls->bias(), labels, weights, 0,
                             parts_->bert->fused().has_value());
    return {entropy.nats, entropy.row_nats, entropy.row_correct,
            parts_->cls->seq_relationship(parts_->bert->pool(hidden))};
}

const BigBirdConfig& PreTrainingModelImpl::config() const {
    return parts_->bert->config();
}

void PreTrainingModelImpl::set_attention_backend(attention::Backend backend) {
    parts_->bert->set_attention_backend(backend);
}

void PreTrainingModelImpl::set_recompute(bool recompute) {
    parts_->bert->set_recompute(recompute);
}

void PreTrainingModelImpl::set_packed_projections(std::optional<bool> packed) {
    parts_->bert->set_packed_projections(packed);
}

void PreTrainingModelImpl::set_redraw(std::int64_t redraw) {
    parts_->bert->set_redraw(redraw);
}

}  // namespace bigbird::model
