// SPDX-License-Identifier: Apache-2.0
// A run of finetune-*, decided before anything is built: what is trained, on what, and what the run records.
#pragma once

#include "bigbird/bins/config.hpp"
#include "bigbird/model/bigbird.hpp"
#include "bigbird/model/files/model_card.hpp"
#include "bigbird/task_models/network/model_folder.hpp"
#include "bigbird/task_models/specs/finetune_spec.hpp"
#include "bigbird/task_models/train/training_data.hpp"
#include "bigbird/training/ranks/rank_spec.hpp"
#include "bigbird/training/solve_run.hpp"

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bigbird::task_models {

/// Facts for a model card that the model's folder lacks.
struct CardFacts {
    std::string task;            ///< "promoter", "chromatin", "sequences" or "tokens": predict-TASK scores,
                                 ///< evaluate-TASK evaluates
    std::string architecture{};  ///< TaskInfo::architecture
    std::string reads;           ///< what a score is of: "a window of 1,000 bases"
    examples::TargetKind target = examples::TargetKind::labels;
    std::size_t labels = 0;
    std::string validation{};  ///< what was evaluated: "2,500 rows"; empty: nothing
    std::vector<std::pair<std::string, std::string>> data{};  ///< what, and its checksum or count
    Json options{};                                           ///< training's options, by name
};

/// Facts of an example folder: task, labels, rows and the checksums of its inputs.
CardFacts facts_of(const examples::ExampleSet& examples);

/// "12,345,678".
std::string with_commas(std::int64_t number);

/// The card of a model whose folder holds all but it. Throws InputError where a file of it cannot be read.
model::ModelCard task_card(const CardFacts& facts, const training::TrainedModel& model);

struct RunPlan {
    training::LoopSpec loop{};  ///< with the fixed options
    TaskInfo info{};
    CardFacts card{};
    std::function<std::shared_ptr<TaskNetwork>(const Job& job)> network{};
    std::function<std::unique_ptr<TrainingData>(std::shared_ptr<TaskNetwork> network, int threads)> data{};
    std::optional<double> averaging = std::nullopt;  ///< TrainTask's
    /// Instead of both: solves a model in closed form.
    std::function<training::Solution(int threads)> solve{};
};

/// The runs of finetune(), its spec validated. `speaks`: whether to log what is unusual.
RunPlan plan_windows(const FinetuneSpec& spec, bool speaks);
RunPlan plan_bins(const FinetuneSpec& spec, int threads, bool speaks);
RunPlan plan_bases(const FinetuneTokensSpec& spec, int threads, bool speaks);
RunPlan plan_sequences(const FinetuneSpec& spec, bool speaks);

/// Trains or solves a plan into the run folder of `spec`. Throws what finetune() throws.
training::LoopResult carry_out(const FinetuneSpec& spec, const training::RankSpec& place, int threads,
                               RunPlan plan);

/// The training loop of a run at this learning rate. With validation, sets the metric that selects the best
/// model ("eval_auroc", "eval_loss"). Without it, logs that if `speaks`. The caller sets the fixed options.
training::LoopSpec finetune_loop(const FinetuneSpec& spec, const training::LearningRateSpec& rate,
                                 const std::optional<std::string>& metric, bool speaks = false);

/// The options of most runs that change the result, by name; for BigBird also its start, the model folder
/// `pretrained`. Runs record some of them and require them again on resuming.
Json run_options(const FinetuneSpec& spec, const training::LoopSpec& loop,
                 const std::filesystem::path& pretrained);
/// The entries of `options` whose names are in `names`, in that order. `names` are separated by blanks.
Json chosen_options(const Json& options, const std::string& names);
/// Names of the optimizer's.
inline constexpr const char* optimizer_options =
    " --steps --batch-size --learning-rate --warmup-steps --schedule --betas --epsilon --weight-decay "
    "--clip-norm ";
/// Options of BigBird's start.
inline constexpr const char* starting_options = " --model --head --dropout --random-weights ";

/// The examples of spec.task. Throws InputError where they are of another.
std::shared_ptr<const examples::ExampleSet> load_examples(const FinetuneSpec& spec);

/// The pretrained model's configuration with the head and the dropout that are asked for. Throws InputError,
/// ConfigError.
model::BigBirdConfig classifier_config(const FinetuneSpec& spec, const std::filesystem::path& pretrained,
                                       std::size_t labels);
/// A pretrained model that reads windows, with a head of `labels`.
std::shared_ptr<TaskNetwork> pretrained_windows(const FinetuneSpec& spec, const TaskInfo& info,
                                                std::size_t labels, const std::filesystem::path& pretrained,
                                                const Job& job);
/// With the pretrained encoder or, with random_weights, a new one; the head is drawn from the seed.
model::SequenceClassifier starting_classifier(const FinetuneSpec& spec, const model::BigBirdConfig& config,
                                              const std::filesystem::path& pretrained,
                                              const at::Device& device);

/// The network of bigbird-bins that `spec` asks for, for bins of `bin` bases. Throws ConfigError, and
/// InputError where its file cannot be read.
bins::BinsConfig bins_config(const BinsSpec& spec, std::optional<double> dropout, std::int64_t bin);
/// The windows of BigBird with --head bins, where the positions hold the tokens of `fitting` bins. Throws
/// ConfigError where those asked for do not fit.
bins::Grid token_grid(const BinsSpec& spec, std::int64_t bin, std::int64_t fitting);

}  // namespace bigbird::task_models
