// SPDX-License-Identifier: Apache-2.0
// A model fine-tuned for a task: a model folder with labels.tsv. Its config.json has the task and its windows
// under bigbird_dna.task_model, so that scoring needs no such options.
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

/// A task model's entry in config.json (BigBirdConfig::extra["task_model"]).
struct TaskInfo {
    examples::Task task = examples::Task::chromatin;
    /// The kind of the labels. All tasks but sequences have independent labels.
    examples::TargetKind target = examples::TargetKind::labels;
    /// For numbers, which are standardized or, without it, counts.
    std::optional<Standardisation> standardisation = std::nullopt;
    /// About the TSS base (promoter), or about the middle of the bin (chromatin).
    rows::WindowBounds window{-4000, 4000};
    /// A model that labels bases has no other task than that, and windows [0, size). So many bases at each
    /// end of them are only context in scoring.
    std::optional<std::int64_t> margin = std::nullopt;
    /// How the promoter examples' negatives were made, "" where it does not apply: scores of models with
    /// different negatives cannot be compared.
    std::string negatives;
    std::string architecture =
        "bigbird";                   ///< "bigbird-bins", or a baseline's (baselines/window/architecture.hpp)
    Pooling pooling = Pooling::cls;  ///< BigBird's pooling
    /// The configuration of a network that reads bases; for BigBird with --head bins its grid.
    Json network = Json::object();
    /// The training genome's contigs, at most the 100 longest, to detect another build (other_build).
    std::vector<genome::Contig> contigs;
    Json training = Json::object();  ///< options and checksums of the fine-tuning, for the record

    bool labels_bases() const { return margin.has_value(); }
    LinkFunction link() const;
    /// The grid of a base model's windows on a contig, with bins of one base.
    bins::Grid base_grid() const {
        return {.bin = 1, .window_bins = window.size(), .margin_bins = margin.value_or(0)};
    }
};

/// From an example folder's manifest.
TaskInfo task_info_of(const examples::ExampleSet& examples);
/// The config.json entry of a model that labels bases, in windows of `window` bases.
TaskInfo bases_info(std::int64_t window, std::int64_t margin, std::vector<genome::Contig> contigs = {});
/// The contigs of the reference that examples were built on, in its order.
std::vector<genome::Contig> contigs_of(const examples::ExampleSet& examples);

Json to_json(const TaskInfo& info);
/// Whether fine-tuning wrote this model folder; read_task_info() then has the details. Throws InputError
/// where there is no readable config.json.
bool is_task_model(const std::filesystem::path& directory);
/// Throws InputError if the model is not for promoters or chromatin, or was written by a newer version.
TaskInfo read_task_info(const std::filesystem::path& directory);

/// A fine-tuned model, opened and checked, its network in evaluation mode.
struct ModelFolder {
    TaskInfo info{};
    rows::LabelTable labels{};  ///< a base model's first label is for bases of no row
    std::string sha256;         ///< checksum of model.safetensors
    std::shared_ptr<TaskNetwork> network = nullptr;
    ScoreCalibration calibration{};  ///< from calibration.json

    /// The network of a model of bins; none of others.
    std::shared_ptr<BinNetwork> bins() const { return std::dynamic_pointer_cast<BinNetwork>(network); }
};

/// Opens what finetune-* wrote (training::find_model). Throws InputError: no task model, another task than
/// `task`, labels.tsv, weights, calibration and tokenizer that do not fit each other. `computing`: of BigBird
/// and bigbird-bins.
ModelFolder open_model(const std::filesystem::path& path, examples::Task task, const at::Device& device,
                       const Computing& computing = {});
/// Opens a model of finetune-tokens.
ModelFolder open_bases_model(const std::filesystem::path& path, const at::Device& device,
                             const Computing& computing = {});

/// Returns a warning where a contig of the model's training genome has another length here: most likely
/// another build (GRCh38 for GRCh37). nullopt where all fit, or none is shared.
std::optional<std::string> other_build(const TaskInfo& info, const genome::ReferenceGenome& reference);

}  // namespace bigbird::task_models
