// SPDX-License-Identifier: Apache-2.0
// The plan of a run of finetune-*, made before anything is built: network, data, and the options that the run
// records.
#pragma once

#include "bigbird/bins/config.hpp"
#include "bigbird/finetuning/training_data.hpp"
#include "bigbird/model/bigbird.hpp"
#include "bigbird/model/files/model_card.hpp"
#include "bigbird/tasks/model_folder.hpp"
#include "bigbird/tasks/specs/finetune_spec.hpp"
#include "bigbird/training/ranks/rank_spec.hpp"
#include "bigbird/training/run_start.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace bigbird::tasks {

/// One in this number of a window's bins or bases is margin at each end, by default.
inline constexpr std::int64_t margin_share = 8;

/// Facts for a model card that are not in the model's folder.
struct CardFacts {
    examples::Task task = {};
    std::string architecture{};  ///< TaskInfo::architecture
    std::string reads;           ///< the input of a score: "a window of 1,000 bases"
    examples::TargetKind target = examples::TargetKind::labels;
    std::size_t labels = 0;
    std::string validation{};  ///< the validation data: "2,500 rows"; empty: none
    std::string chosen_by{};   ///< kept_by(); empty: the step was not chosen
    std::vector<std::pair<std::string, std::string>> data{};  ///< names, with checksums or counts
    Json options{};                                           ///< training's options, by name
};

/// Facts of an example folder: task, labels, rows and the checksums of its inputs.
CardFacts facts_of(const examples::ExampleSet& examples);

/// "12,345,678".
std::string with_commas(std::int64_t number);

/// The card of a model whose folder is otherwise complete. Throws InputError if one of its files cannot be
/// read.
model::ModelCard task_card(const CardFacts& facts, const training::TrainedModel& model);

struct NetworkAndData {
    std::shared_ptr<TaskNetwork> network;
    std::unique_ptr<TrainingData> data;
};

struct RunPlan {
    training::LoopSpec loop{};  ///< includes the fixed options
    TaskInfo info{};
    CardFacts card{};
    /// Makes what is trained step by step.
    std::function<NetworkAndData(const Job& job)> make{};
    std::optional<double> averaging = std::nullopt;  ///< decay of TrainTask's weight average
    /// Instead of that: solves a model in closed form.
    std::function<training::Solution(int threads)> solve{};
};

/// The plans of finetune(), for a validated spec. `speaks`: whether to log unusual settings.
RunPlan plan_windows(const FinetuneSpec& spec, bool speaks);
RunPlan plan_bins(const FinetuneSpec& spec, int threads, bool speaks);
RunPlan plan_bases(const FinetuneSpec& spec, int threads, bool speaks);
RunPlan plan_sequences(const FinetuneSpec& spec, bool speaks);

/// Trains or solves a plan into the run folder of `spec`. Throws what finetune() throws.
training::LoopResult carry_out(const FinetuneSpec& spec, const training::RankSpec& rank, int threads,
                               RunPlan plan);

/// Positives of validation, of all labels together, below which steps are compared by their loss: few
/// positives soon have an AUROC near 1, or one that rises while the top scores become worse
/// (docs/development/measurements.md).
inline constexpr std::int64_t few_positives = 50;
/// The metric that selects the best step, for labels with so many `ones` in `rows` of validation: "eval_loss"
/// below few_positives, counting negatives where they are fewer, else "eval_auroc".
std::string metric_for(std::span<const std::int64_t> ones, std::int64_t rows);
/// "the highest AUROC on validation (of equal ones, the lowest loss)": by which a run's step is chosen.
std::string kept_by(const std::string& metric);

/// The training loop of a run at this learning rate. With validation, sets the metric that selects the best
/// model (metric_for()), and logs it if `speaks`. Without it, logs that. The caller sets the
/// fixed options.
training::LoopSpec finetune_loop(const FinetuneSpec& spec, const training::LearningRateSpec& rate,
                                 const std::optional<std::string>& metric, bool speaks = false);

/// metric_for() of the validation rows, "eval_loss" for numbers; nullopt without such rows.
std::optional<std::string> metric_of(const examples::ExampleSet& examples);

/// The options that change the result of most runs, by name; for BigBird also its initial model, the folder
/// `pretrained`. Runs record some of them and require the same ones on resuming.
Json run_options(const FinetuneSpec& spec, const training::LoopSpec& loop,
                 const std::filesystem::path& pretrained);
/// The entries of `options` whose names are in `names`, in that order. `names` are separated by blanks.
Json chosen_options(const Json& options, const std::string& names);
/// Names of the optimizer's options.
inline constexpr const char* optimizer_options =
    " --steps --batch-size --learning-rate --warmup-steps --schedule --betas --epsilon --weight-decay "
    "--clip-norm ";
/// Names of the options for BigBird's initial model.
inline constexpr const char* starting_options =
    " --model --head --dropout --random-weights --lora --lora-alpha --lora-dropout ";

/// Loads the examples of spec.task. Throws InputError if they are for another task.
std::shared_ptr<const examples::ExampleSet> load_examples(const FinetuneSpec& spec);

/// The pretrained model's configuration, with the requested head and dropout. Throws InputError, ConfigError.
model::BigBirdConfig classifier_config(const FinetuneSpec& spec, const std::filesystem::path& pretrained,
                                       std::size_t labels);
/// A network of windows: a baseline, or BigBird from a pretrained model with a head for `labels` labels.
std::shared_ptr<TaskNetwork> windows_network(const FinetuneSpec& spec, const TaskInfo& info,
                                             std::size_t labels, const std::filesystem::path& pretrained,
                                             const Job& job);
/// A classifier with the pretrained encoder or, with random_weights, a new one. The head is drawn from the
/// seed.
model::SequenceClassifier starting_classifier(const FinetuneSpec& spec, const model::BigBirdConfig& config,
                                              const std::filesystem::path& pretrained,
                                              const at::Device& device);

/// The configuration of bigbird-bins for `spec` and bins of `bin` bases. Throws ConfigError, and InputError
/// if its file cannot be read.
bins::BinsConfig bins_config(const BinsSpec& spec, std::optional<double> dropout, std::int64_t bin);
/// The windows of BigBird with --head bins, if the positions have room for the tokens of `fitting` bins.
/// Throws ConfigError if the requested windows do not fit.
bins::Grid token_grid(const BinsSpec& spec, std::int64_t bin, std::int64_t fitting);

}  // namespace bigbird::tasks
