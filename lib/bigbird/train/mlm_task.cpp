// SPDX-License-Identifier: Apache-2.0
#include "bigbird/train/mlm_task.hpp"

#include "bigbird/model/model_directory.hpp"
#include "bigbird/train/mlm_scoring.hpp"

#include <ATen/ATen.h>

#include <algorithm>

namespace bigbird::train {

namespace {

GlobalBatch batch_of(const corpus::ExampleSource& source, const model::BigBirdConfig& config,
                     const MlmTaskSpec& spec, std::int64_t step) {
    std::vector<corpus::Example> examples;
    const std::int64_t first = (step - 1) * spec.batch_size;
    for (std::int64_t i = first; i < first + spec.batch_size; ++i) {
        examples.push_back(source.get(i));
    }
    return make_global_batch(examples, config, spec.micro_batch_tokens, spec.device);
}

/// Means over the global batch, gathered micro-batch by micro-batch; 0-dim float32 on the device.
struct Sums {
    explicit Sums(const at::Device& device)
        : mlm_loss(at::zeros({}, device)),
          mlm_accuracy(at::zeros({}, device)),
          nsp_loss(at::zeros({}, device)),
          nsp_accuracy(at::zeros({}, device)) {}
    at::Tensor mlm_loss, mlm_accuracy, nsp_loss, nsp_accuracy;
};

/// The micro-batch's share of the global loss.
at::Tensor loss_of(const model::PreTrainingOutput& out, const MlmBatch& part, const GlobalBatch& batch,
                   Sums& sums) {
    const auto masked = static_cast<double>(std::max<std::int64_t>(1, batch.masked));
    const auto sequences = static_cast<double>(batch.sequences);
    const at::Tensor logits = out.prediction_logits.to(at::kFloat);  // (masked, vocab)
    at::Tensor loss = at::cross_entropy_loss(logits, part.labels, {}, at::Reduction::Sum) / masked;
    sums.mlm_loss += loss.detach();
    sums.mlm_accuracy += logits.detach().argmax(-1).eq(part.labels).sum() / masked;
    if (part.next_sentence.defined()) {
        const at::Tensor pair = out.seq_relationship_logits.to(at::kFloat);  // (batch, 2)
        const at::Tensor nsp =
            at::cross_entropy_loss(pair, part.next_sentence, {}, at::Reduction::Sum) / sequences;
        sums.nsp_loss += nsp.detach();
        sums.nsp_accuracy += pair.detach().argmax(-1).eq(part.next_sentence).sum() / sequences;
        loss = loss + nsp;
    }
    return loss;
}

}  // namespace

MlmTask::MlmTask(model::PreTrainingModel network, tokenizer::DnaTokenizer tokenizer,
                 corpus::ExampleSource source, std::optional<corpus::ExampleSource> held_out,
                 const MlmTaskSpec& spec)
    : network_(std::move(network)),
      tokenizer_(std::move(tokenizer)),
      source_(std::move(source)),
      held_out_(std::move(held_out)),
      spec_(spec),
      config_(network_->config()),
      batches_([this](std::int64_t step) { return batch_of(source_, config_, spec_, step); }) {}

StepStats MlmTask::accumulate(std::int64_t step) {
    network_->train();
    const GlobalBatch batch = batches_.get(step);
    Sums sums(spec_.device);
    for (const MlmBatch& part : batch.parts) {
        at::Tensor loss;
        {
            const Autocast autocast(spec_.compute, spec_.device);
            const model::DropoutKey key{spec_.seed, step, part.first_sample};
            loss = loss_of(network_->forward(part.input, part.positions, key), part, batch, sums);
        }
        loss.backward();
    }
    StepStats stats{.loss = sums.mlm_loss + sums.nsp_loss,
                    .metrics = {{"mlm_loss", sums.mlm_loss}, {"mlm_accuracy", sums.mlm_accuracy}},
                    .tokens = batch.tokens,
                    .sequences = batch.sequences};
    if (source_.spec().nsp) {
        stats.metrics.emplace_back("nsp_loss", sums.nsp_loss);
        stats.metrics.emplace_back("nsp_accuracy", sums.nsp_accuracy);
    }
    return stats;
}

Json MlmTask::evaluate() {
    Json metrics = Json::object();
    if (!held_out_) {
        return metrics;
    }
    const MlmScores scores = score_mlm(network_, *held_out_, tokenizer_,
                                       {.sequences = spec_.evaluation_sequences,
                                        .max_tokens = spec_.micro_batch_tokens,
                                        .device = spec_.device,
                                        .compute = spec_.compute});
    metrics["eval_loss"] = scores.mlm_loss() + scores.nsp_loss();
    metrics["eval_mlm_loss"] = scores.mlm_loss();
    metrics["eval_mlm_accuracy"] = scores.accuracy();
    metrics["eval_bits_per_character"] = scores.bits_per_character();
    if (scores.nsp_sequences() > 0) {
        metrics["eval_nsp_loss"] = scores.nsp_loss();
        metrics["eval_nsp_accuracy"] = scores.nsp_accuracy();
    }
    return metrics;
}

void MlmTask::write_model(const std::filesystem::path& directory) {
    model::write_model(network_, &tokenizer_, directory);
}

}  // namespace bigbird::train
