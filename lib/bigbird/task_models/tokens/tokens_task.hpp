// SPDX-License-Identifier: Apache-2.0
// Training of a label a base. A base has the probabilities of its token, so the loss of a window is the mean
// over its bases of -ln p(label): what a token is asked for is the share of each label among its bases.
#pragma once

#include "bigbird/task_models/score_calibration.hpp"
#include "bigbird/task_models/specs/tokens_spec.hpp"
#include "bigbird/task_models/tokens/label_windows.hpp"
#include "bigbird/task_models/tokens/token_labeller.hpp"
#include "bigbird/training/training_loop.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace bigbird::task_models {

/// The two splits that training looks at.
struct LabelSplits {
    LabelWindows train, validation;
};

/// Sample i of the run follows from (seed, i).
class TokensTask : public training::TrainingTask {
public:
    /// `splits` must outlive this. Without ranks this process is alone. Throws InputError where train has no
    /// base or none with a label, ConfigError where ranks are left without a window.
    TokensTask(std::unique_ptr<TokenLabeller> labeller, const LabelSplits& splits, TokensInfo info,
               rows::LabelTable labels, const FinetuneTokensSpec& spec, int threads = 1,
               std::shared_ptr<training::Ranks> ranks = nullptr);

    torch::nn::Module& module() override { return *labeller_->network(); }
    training::StepStats accumulate(std::int64_t step) override;
    /// On the bases of validation, at most four million of them in windows that are evenly spaced:
    /// "eval_loss" (nats a base), and means over the labels that have at least 10 bases, without that of
    /// bases of no row: "eval_auroc", "eval_auprc", "eval_f1" (each base called what is most probable);
    /// "eval_labels" says how many. Null where there is none; an empty object without bases. All are of the
    /// network's own probabilities; a calibration is fitted on the same bases.
    Json evaluate() override;
    /// config.json, model.safetensors, the tokenizer's files, labels.tsv and, right after an evaluation on
    /// the first rank, calibration.json.
    void write_model(const std::filesystem::path& directory) override;

    /// The window that is sample `sample` of the run, from 0.
    LabelWindow window_of(std::int64_t sample) const;

private:
    struct Batch {
        std::vector<EncodedWindow> windows;
        std::vector<std::vector<std::int32_t>> labels;  ///< a base, -1 where it does not count
    };
    Batch batch_of(const LabelWindows& source, std::span<const LabelWindow> windows) const;
    /// Sum over counted bases of weight * -ln p. (1)
    at::Tensor loss_sum(const at::Tensor& logits, const Batch& batch, std::span<const std::size_t> group,
                        const at::Tensor& weights) const;
    /// What loss_sum() of all samples of a step is divided by.
    double weight_of(std::span<const LabelWindow> windows) const;
    void start_at_base_rates();
    /// Logits (bases, labels) float32 and labels (bases) int64 of bases that count, on the CPU.
    struct ScoredBases {
        at::Tensor logits, truth;
    };
    /// Of a group, appended in order.
    void collect(const at::Tensor& logits, const Batch& batch, std::span<const std::size_t> group,
                 std::vector<at::Tensor>& of_bases, std::vector<at::Tensor>& truth) const;
    /// This rank's share of validation.
    ScoredBases validation_bases();
    /// Those of all ranks, in the ranks' order.
    ScoredBases of_all_ranks(const ScoredBases& own) const;

    std::unique_ptr<TokenLabeller> labeller_;
    const LabelSplits& splits_;
    TokensInfo info_;
    rows::LabelTable labels_;
    std::int64_t batch_size_, batch_tokens_;
    std::uint64_t seed_;
    bool both_strands_;
    bool calibrates_;
    int threads_;
    std::shared_ptr<training::Ranks> ranks_;
    training::Ranks::GradientSum gradients_;
    at::Tensor weights_;                            ///< (labels), on the device
    std::vector<double> label_weights_;             ///< the same
    std::optional<FittedCalibration> calibration_;  ///< of the weights as they are
};

/// Mean figures of probabilities (bases, labels) against labels (bases) int64, as evaluate() has them.
Json label_figures(const at::Tensor& probabilities, const at::Tensor& truth);

/// What a base of each label counts in the loss. The least is 1, the others are at most 100.
std::vector<double> weights_of_labels(LabelWeights weights, const std::vector<std::int64_t>& counts);

}  // namespace bigbird::task_models
