// SPDX-License-Identifier: Apache-2.0
// Pretraining as the training loop sees it: masked tokens and next-sentence prediction.
#pragma once

#include "bigbird/corpus/tokens/example_stream.hpp"
#include "bigbird/model/bigbird.hpp"
#include "bigbird/pretraining/masked/mlm_batch.hpp"
#include "bigbird/pretraining/specs/pretrain_spec.hpp"
#include "bigbird/training/device/autocast.hpp"
#include "bigbird/training/prefetch.hpp"
#include "bigbird/training/training_loop.hpp"

#include <cstdint>
#include <memory>
#include <optional>

namespace bigbird::pretraining {

/// `batch_size` is at least 1.
struct MlmTaskSpec : MlmSpec {
    std::int64_t micro_batch_tokens = 8192;  ///< padded, computed at once: bounds the memory
    at::Device device = at::kCPU;
    training::ComputeType compute = training::ComputeType::fp32;
    attention::Backend attention = attention::Backend::automatic;
    std::optional<bool> packed_projections =
        std::nullopt;  ///< PreTrainingModelImpl::set_packed_projections()
    std::shared_ptr<training::Ranks> ranks = std::make_shared<training::Ranks>();
};

/// Step s takes the examples [(s - 1) * batch_size, s * batch_size) of the source, of which each rank
/// computes its share. So no sample is seen twice, and only the step is saved. A Performer that redraws its
/// features also saves the draw, since a resumed run may have to evaluate before its next step. The loss is
/// the mean over the masked tokens of the global batch, weighted by repeat_weight, plus, with NSP, the mean
/// over its sequences, for any number of ranks and micro-batches.
class MlmTask : public training::TrainingTask {
public:
    /// The network is on the device already. `held_out`'s examples are masked by its own spec.
    MlmTask(model::PreTrainingModel network, tokenizer::DnaTokenizer tokenizer, corpus::ExampleSource source,
            std::optional<corpus::ExampleSource> held_out, const MlmTaskSpec& spec);

    torch::nn::Module& module() override { return *network_; }
    /// Metrics: mlm_loss, mlm_accuracy, bits_per_character, of a marked corpus repeat_bits_per_character, the
    /// part of it that is of repeats, and, with
    /// NSP, nsp_loss, nsp_accuracy. Accuracy
    /// and bits count only the tokens that the network sees as [MASK], as evaluate() does.
    training::StepStats accumulate(std::int64_t step) override;
    /// eval_loss, eval_mlm_loss, eval_mlm_accuracy, eval_bits_per_character and, with NSP, eval_nsp_loss,
    /// eval_nsp_accuracy; empty without held-out examples.
    Json evaluate() override;
    Json state() const override;
    void restore(const Json& state) override;
    void write_model(const std::filesystem::path& directory) override;

private:
    model::PreTrainingModel network_;
    tokenizer::DnaTokenizer tokenizer_;
    corpus::ExampleSource source_;
    std::optional<corpus::ExampleSource> held_out_;
    MlmTaskSpec spec_;
    model::BigBirdConfig config_;
    std::shared_ptr<training::Ranks> ranks_;
    training::Ranks::GradientSum gradients_;
    training::Prefetcher<GlobalBatch> batches_;
};

}  // namespace bigbird::pretraining
