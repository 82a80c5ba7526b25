// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/bigbird.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/model/layers/linear_cross_entropy.hpp"

#include <ATen/ATen.h>

namespace bigbird::model {

PreTrainingModelImpl::PreTrainingModelImpl(const BigBirdConfig& config)
    : WithEncoder(config), cls_(register_module("cls", PreTrainingHeads(config))) {}

PreTrainingOutput PreTrainingModelImpl::forward(const EncoderInput& input, const at::Tensor& positions,
                                                const DropoutKey& key) {
    return predict(encode(input, false, key).hidden, positions);
}

PreTrainingOutput PreTrainingModelImpl::predict(const at::Tensor& hidden, const at::Tensor& positions) {
    const at::Tensor chosen = positions.defined() ? hidden.flatten(0, 1).index_select(0, positions) : hidden;
    return {cls_->predictions(chosen, bert_->word_embeddings()), cls_->seq_relationship(pool(hidden))};
}

PreTrainingLoss PreTrainingModelImpl::loss(const at::Tensor& hidden, const at::Tensor& positions,
                                           const at::Tensor& labels, const at::Tensor& weights) {
    const at::Tensor chosen = cls_->transform(hidden.flatten(0, 1).index_select(0, positions));
    const LinearCrossEntropy entropy =
        linear_cross_entropy(chosen, cls_->decoder(bert_->word_embeddings()), cls_->bias(), labels, weights,
                             0, bert_->fused().has_value());
    return {entropy.nats, entropy.row_nats, entropy.row_correct, cls_->seq_relationship(pool(hidden))};
}

SequenceClassifierImpl::SequenceClassifierImpl(const BigBirdConfig& config)
    : WithEncoder(config), classifier_(nullptr) {
    if (config.num_labels < 1)
        throw ConfigError("model configuration: num_labels must be at least 1 for a classifier");
    classifier_ = register_module("classifier", ClassificationHead(config));
}

at::Tensor SequenceClassifierImpl::forward(const EncoderInput& input, const DropoutKey& key) {
    return predict(encode(input, false, key).hidden, key);
}

at::Tensor SequenceClassifierImpl::predict(const at::Tensor& hidden, const DropoutKey& key) {
    const auto logits_of = [&](const at::Tensor& rows) {
        if (classifier_->reads_every_row()) return classifier_->forward(rows, key);
        return classifier_->forward(classifier_->reads_pooler() ? bert_->pool(rows) : rows.select(1, 0), key);
    };
    if (is_training() || !hidden.is_cpu() || hidden.size(0) == 1) return logits_of(hidden);
    // Rounding of a product depends on the number of rows, so rows are computed separately. A row's logits
    // then do not depend on the others.
    std::vector<at::Tensor> logits;
    for (const at::Tensor& row : hidden.split(1))
        logits.push_back(logits_of(row));
    return at::cat(logits);
}

std::vector<at::Tensor> SequenceClassifierImpl::trained_parameters() const {
    std::vector<at::Tensor> trained;
    const auto& longformer = config().longformer;
    const bool has_globals = longformer && longformer->global_tokens.value_or(0) > 0;
    for (const auto& item : named_parameters()) {
        const bool of_pooler = item.key().starts_with("bert.pooler");
        const bool of_globals = item.key().find("_global.") != std::string::npos;
        if ((!of_pooler || classifier_->reads_pooler()) && (!of_globals || has_globals) &&
            item.value().requires_grad())
            trained.push_back(item.value());
    }
    return trained;
}

}  // namespace bigbird::model
