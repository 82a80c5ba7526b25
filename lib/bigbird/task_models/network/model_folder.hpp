// SPDX-License-Identifier: Apache-2.0
// A model that was fine-tuned for a task: a model folder with labels.tsv, whose config.json says under
// bigbird_dna.task_model what the task is and how its windows are cut, so that scoring needs no such options.
#pragma once

#include "bigbird/examples/examples.hpp"
#include "bigbird/genome/reference/reference_genome.hpp"
#include "bigbird/rows/label_table.hpp"
#include "bigbird/rows/window.hpp"
#include "bigbird/task_models/network/bigbird_network.hpp"
#include "bigbird/task_models/network/target.hpp"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace bigbird::task_models {

/// What config.json says of a task model (BigBirdConfig::extra["task_model"]).
struct TaskInfo {
    examples::Task task = examples::Task::chromatin;
    /// What the labels are; other tasks than sequences have labels on their own.
    examples::TargetKind target = examples::TargetKind::labels;
    /// Of numbers, which are standardised or, without it, counts.
    std::optional<Standardisation> standardisation = std::nullopt;
    /// About the TSS base (promoter), or about the middle of the bin (chromatin).
    rows::WindowBounds window{-4000, 4000};
    /// A model that labels bases has no other task than that, and windows [0, size). So many bases at each
    /// end of them are only context in scoring.
    std::optional<std::int64_t> margin = std::nullopt;
    /// How the promoter examples' negatives were made, "" where that says nothing: scores of models with
    /// different negatives cannot be compared.
    std::string negatives;
    std::string architecture =
        "bigbird";                   ///< "bigbird-bins", or a baseline's (baselines/window/architecture.hpp)
    Pooling pooling = Pooling::cls;  ///< of BigBird
    /// What a network that reads bases is built by; of BigBird with --head bins its grid.
    Json network = Json::object();
    /// Those of the genome it was trained on, at most the 100 longest: tells another build (other_build).
    std::vector<genome::Contig> contigs;
    Json training = Json::object();  ///< options and checksums of the fine-tuning, for the record

    bool labels_bases() const { return margin.has_value(); }
    LinkFunction link() const;
    /// Where windows of a model of bases lie on a contig, with bins of one base.
    bins::Grid base_grid() const {
        return {.bin = 1, .window_bins = window.size(), .margin_bins = margin.value_or(0)};
    }
};

/// From an example folder's manifest.
TaskInfo task_info_of(const examples::ExampleSet& examples);
/// What config.json says of a model that labels bases, in windows of `window` bases.
TaskInfo bases_info(std::int64_t window, std::int64_t margin, std::vector<genome::Contig> contigs = {});
/// The contigs of the reference that examples were built on, in its order.
std::vector<genome::Contig> contigs_of(const examples::ExampleSet& examples);

Json to_json(const TaskInfo& info);
/// Whether fine-tuning wrote this model folder; read_task_info() then tells more. Throws InputError where
/// there is no readable config.json.
bool is_task_model(const std::filesystem::path& directory);
/// Throws InputError where it is no model for promoters or chromatin, or one of a newer kind.
TaskInfo read_task_info(const std::filesystem::path& directory);

/// What fine-tuning wrote, opened and checked, its network in evaluation mode.
struct ModelFolder {
    TaskInfo info{};
    rows::LabelTable labels{};  ///< of a model of bases the first one is that of bases of no row
    std::string sha256;         ///< of model.safetensors
    std::shared_ptr<TaskNetwork> network = nullptr;
    ScoreCalibration calibration{};  ///< of calibration.json

    /// The network of a model of bins; none of others.
    std::shared_ptr<BinNetwork> bins() const { return std::dynamic_pointer_cast<BinNetwork>(network); }
};

/// Opens what finetune-* wrote (training::find_model). Throws InputError: no task model, another task than
/// `task`, labels.tsv, weights, calibration and tokenizer that do not fit each other. `computing`: of BigBird
/// and bigbird-bins.
ModelFolder open_model(const std::filesystem::path& path, examples::Task task, const at::Device& device,
                       const Computing& computing = {});
/// The same of what finetune-tokens wrote.
ModelFolder open_bases_model(const std::filesystem::path& path, const at::Device& device,
                             const Computing& computing = {});

/// What to warn of where a contig of the genome that the model was trained on has another length here: most
/// likely another build (GRCh38 for GRCh37). Nothing where all fit, or none is shared.
std::optional<std::string> other_build(const TaskInfo& info, const genome::ReferenceGenome& reference);

}  // namespace bigbird::task_models
