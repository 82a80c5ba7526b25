// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/error.hpp"
#include "bigbird/model/bigbird.hpp"
#include "bigbird/model/encoder.hpp"
#include "bigbird/model/heads.hpp"

namespace bigbird::model {

struct SequenceClassifierImpl::Parts {
    explicit Parts(const BigBirdConfig& config) : bert(config), classifier(config) {}
    BigBirdModel bert;
    ClassificationHead classifier;
};

SequenceClassifierImpl::SequenceClassifierImpl(const BigBirdConfig& config) {
    if (config.num_labels < 1)
        throw ConfigError("model configuration: num_labels must be at least 1 for a classifier");
    parts_ = std::make_shared<Parts>(config);
    register_module("bert", parts_->bert);
    register_module("classifier", parts_->classifier);
}

at::Tensor SequenceClassifierImpl::forward(const EncoderInput& input, const DropoutKey& key) {
    return predict(encode(input, false, key).hidden, key);
}

EncoderOutput SequenceClassifierImpl::encode(const EncoderInput& input, bool all_hidden_states,
                                             const DropoutKey& key) {
    return parts_->bert->forward(input, all_hidden_states, key);
}

at::Tensor SequenceClassifierImpl::predict(const at::Tensor& hidden, const DropoutKey& key) {
    const ClassificationHead& head = parts_->classifier;
    const auto logits_of = [&](const at::Tensor& rows) {
        if (head->reads_every_row()) return head->forward(rows, key);
        return head->forward(head->reads_pooler() ? parts_->bert->pool(rows) : rows.select(1, 0), key);
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
        if ((!of_pooler || parts_->classifier->reads_pooler()) && (!of_globals || has_globals))
            trained.push_back(item.value());
    }
    return trained;
}

const BigBirdConfig& SequenceClassifierImpl::config() const {
    return parts_->bert->config();
}

void SequenceClassifierImpl::set_attention_backend(attention::Backend backend) {
    parts_->bert->set_attention_backend(backend);
}

}  // namespace bigbird::model
