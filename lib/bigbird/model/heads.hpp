// SPDX-License-Identifier: Apache-2.0
// Heads of the encoder: masked-token and next-sentence prediction, classification of sequences, bins and
// tokens.
#pragma once

#include "bigbird/model/files/config.hpp"
#include "bigbird/model/layers/dropout.hpp"
#include "bigbird/model/layers/layers.hpp"

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>

namespace bigbird::model {

/// "cls.": predictions (dense, activation, LayerNorm, tied decoder) and seq_relationship. A Longformer's
/// activation is gelu, whatever hidden_act is, as in transformers.
class PreTrainingHeadsImpl : public torch::nn::Module {
public:
    explicit PreTrainingHeadsImpl(const BigBirdConfig& config);
    at::Tensor predictions(const at::Tensor& hidden,
                           const at::Tensor& word_embeddings) const;  // (…, hidden) -> (…, vocab)
    at::Tensor seq_relationship(const at::Tensor& pooled) const;      // (batch, hidden) -> (batch, 2)
    /// predictions() without its last product: (…, hidden) -> (…, hidden).
    at::Tensor transform(const at::Tensor& hidden) const;
    const at::Tensor& bias() const { return bias_; }  // (vocab)

private:
    std::string activation_;
    at::Tensor bias_;  // (vocab)
    Linear dense_{nullptr}, seq_relationship_{nullptr};
    LayerNorm norm_{nullptr};
};
TORCH_MODULE(PreTrainingHeads);

/// "classifier.": dropout, dense, activation (a Longformer's: tanh), dropout, out_proj on the raw first
/// position. classifier_head "linear": dropout and out_proj; "bins": LayerNorm, dropout and out_proj;
/// "tokens": dropout and a layer without a separate name ("classifier.weight"), as in transformers.
class ClassificationHeadImpl : public torch::nn::Module {
public:
    explicit ClassificationHeadImpl(const BigBirdConfig& config);
    at::Tensor forward(const at::Tensor& features,
                       const DropoutKey& key) const;  // (batch, …, hidden) -> (batch, …, labels)
    bool reads_pooler() const { return kind_ == "linear"; }
    bool reads_every_row() const { return kind_ == "bins" || kind_ == "tokens"; }

private:
    std::string kind_, activation_;  // an empty activation: tanh
    double dropout_;
    Linear dense_{nullptr}, out_proj_{nullptr};
    LayerNorm norm_{nullptr};
};
TORCH_MODULE(ClassificationHead);

// BigBirdForQuestionAnswering: where in the text after a question its answer begins and ends. The question
// reaches up to the first [SEP].

/// "qa_classifier.": a feed-forward layer with its residual and LayerNorm, and a layer of two numbers.
class QuestionAnsweringHeadImpl : public torch::nn::Module {
public:
    explicit QuestionAnsweringHeadImpl(const BigBirdConfig& config);
    /// (…, hidden) -> (…, 2): scores of a token as the answer's first and as its last.
    at::Tensor forward(const at::Tensor& hidden) const;

private:
    std::string activation_;
    Linear intermediate_{nullptr}, output_{nullptr}, answers_{nullptr};
    LayerNorm norm_{nullptr};
};
TORCH_MODULE(QuestionAnsweringHead);

/// Number of tokens up to and including the first `sep`; 1 if there is none. ids: (batch, length) -> (batch,
/// 1) int64.
at::Tensor question_lengths(const at::Tensor& ids, std::int64_t sep);

/// 1 for the first lengths[i] tokens of row i, 0 for the others. lengths: (batch, 1) -> (batch, length)
/// int64.
at::Tensor question_mask(const at::Tensor& lengths, std::int64_t length);

/// `logits` (batch, length, 2) with 1e6 subtracted at every token of the question except the first, which
/// means "no answer". question: (batch, length), of question_mask().
at::Tensor without_question(const at::Tensor& logits, const at::Tensor& question);

}  // namespace bigbird::model
