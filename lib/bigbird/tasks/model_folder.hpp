// SPDX-License-Identifier: Apache-2.0
// A model fine-tuned for a task: a model folder with labels.tsv. Its config.json has the task and its windows
// under bigbird_dna.task_model, so that scoring needs no such options.
#pragma once

#include "bigbird/examples/examples.hpp"
#include "bigbird/genome/reference/reference_genome.hpp"
#include "bigbird/rows/label_table.hpp"
#include "bigbird/rows/window.hpp"
#include "bigbird/tasks/bigbird_network.hpp"
#include "bigbird/tasks/specs/architectures.hpp"
#include "bigbird/tasks/target.hpp"

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bigbird::tasks {

/// A task model's entry in config.json (BigBirdConfig::extra["task_model"]).
struct TaskInfo {
    examples::Task task = examples::Task::chromatin;
    /// The kind of the labels. All tasks but sequences have independent labels.
    examples::TargetKind target = examples::TargetKind::labels;
    /// Scaling of standardized numbers; without it, numbers are counts.
    std::optional<Standardisation> standardisation = std::nullopt;
    /// Relative to the TSS base (promoter), or to the middle of the bin (chromatin).
    rows::WindowBounds window{-4000, 4000};
    /// Set only for a model that labels bases; its windows are [0, size). This number of bases at each end of
    /// a window serves only as context in scoring.
    std::optional<std::int64_t> margin = std::nullopt;
    /// How the negatives of promoter examples were made; "" for other tasks. Scores of models with different
    /// negatives cannot be compared.
    std::string negatives;
    std::string architecture{bigbird_name};  ///< of the table (specs/architectures.hpp)
    Pooling pooling = Pooling::cls;          ///< BigBird's pooling
    /// The configuration of a network that reads bases; for BigBird with --head bins its grid.
    Json network = Json::object();
    /// The training genome's contigs, at most the 100 longest, to detect another build (other_build).
    std::vector<genome::Contig> contigs;
    Json training = Json::object();  ///< options and checksums of the fine-tuning, only for information

    const examples::TaskTraits& traits() const { return traits_of(task); }
    /// The row of `architecture`. Throws ConfigError if there is none.
    const Architecture& row() const { return architecture_of(architecture); }
    bool reads_records() const { return row().reads_records(task, target); }
    std::optional<LinkFunction> published_link = std::nullopt;  ///< of a published network
    LinkFunction link() const;  ///< of a new model; an opened one has ModelFolder::calibration
    /// The grid of windows on a contig of a model that labels bases, with bins of one base.
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
/// Writes config.json, with this model_type, and model.safetensors of a network that reads bases. Throws
/// WriteError.
void write_folder(const TaskNetwork& network, const std::string& type, const TaskInfo& info,
                  const std::filesystem::path& directory);
/// Whether fine-tuning wrote this model folder; read_task_info() then has the details. Throws InputError
/// if there is no readable config.json.
bool is_task_model(const std::filesystem::path& directory);
/// Throws InputError if fine-tuning did not write the model, or a newer version did. Also of a file of a
/// published network.
TaskInfo read_task_info(const std::filesystem::path& directory);
/// Throws ConfigError if the model gives profiles, with the commands that take it: `command` does not.
void refuse_profiles(const std::filesystem::path& model, const std::string& command);
/// From the entry of config.json; `where` names it in errors.
TaskInfo parse_task_info(const Json& json, const std::filesystem::path& where);

/// A fine-tuned model, opened and checked, its network in evaluation mode.
struct ModelFolder {
    TaskInfo info{};
    rows::LabelTable labels{};  ///< a base model's first label is for bases without a row
    std::string sha256;         ///< checksum of model.safetensors
    std::shared_ptr<TaskNetwork> network = nullptr;
    ScoreCalibration calibration{};  ///< from calibration.json

    /// The network of a bin model; null for other models.
    std::shared_ptr<BinNetwork> bins() const { return std::dynamic_pointer_cast<BinNetwork>(network); }
};

/// Returns `values` (…, labels) of a reverse complement with the labels of each strand pair swapped.
at::Tensor on_other_strand(const at::Tensor& values, const rows::LabelTable& labels);

/// Opens a model of finetune-* (training::find_model). Throws InputError: not a task model, another task than
/// `task` (if there is none, a model that labels bases, which only predict takes), or labels.tsv, weights,
/// calibration and tokenizer that contradict each other. `computing` is for BigBird and bigbird-bins.
ModelFolder open_model(const std::filesystem::path& path, std::optional<examples::Task> task,
                       const at::Device& device, const ComputeOptions& computing = {});
/// The folder of a model (training::find_model), and those of its other networks, folds/2 …, where it is the
/// mean of several.
std::vector<std::filesystem::path> model_folders(const std::filesystem::path& path);
/// Opens all networks of several models, each as open_model() does, which takes a model's first.
std::vector<ModelFolder> open_models(std::span<const std::filesystem::path> paths,
                                     std::optional<examples::Task> task, const Job& job);

/// A checksum of names and lengths, for provenance.
std::string contigs_checksum(const genome::ReferenceGenome& reference);

/// Returns a warning if a contig of the model's training genome has another length here: most likely another
/// build (GRCh38 instead of GRCh37). Returns nullopt if all lengths agree, or if no contig is shared.
std::optional<std::string> other_build(const TaskInfo& info, const genome::ReferenceGenome& reference);

}  // namespace bigbird::tasks
