// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/task_model.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/version.hpp"
#include "bigbird/examples/contig_list.hpp"
#include "bigbird/model/model_directory.hpp"
#include "bigbird/model/weights.hpp"
#include "bigbird/task_models/base_bins.hpp"
#include "bigbird/task_models/baseline_windows.hpp"
#include "bigbird/task_models/files/task_files.hpp"
#include "bigbird/task_models/middle_bin.hpp"
#include "bigbird/task_models/token_bins.hpp"
#include "bigbird/training/find_model.hpp"

#include <algorithm>

namespace bigbird::task_models {
namespace fs = std::filesystem;

namespace {

constexpr int format_version = 1;
constexpr std::size_t contigs_kept = 100;

examples::Task parse_task(const std::string& text, const fs::path& where) {
    for (const examples::Task task : {examples::Task::promoter, examples::Task::chromatin}) {
        if (text == to_string(task)) return task;
    }
    if (text == "tokens") throw InputError("is a model of tokens: use predict-tokens", where);
    throw InputError("is a model for the task '" + text + "', which this version does not know", where);
}

std::shared_ptr<WindowNetwork> load_bigbird(const fs::path& directory, const TaskInfo& info,
                                            const at::Device& device, const Computing& computing) {
    tokenizer::DnaTokenizer tokenizer = model::read_tokenizer(directory, model::read_config(directory));
    model::SequenceClassifier network = model::load_classifier(directory, device);
    network->eval();
    return bigbird_windows(std::move(network), std::move(tokenizer),
                           {.pooling = info.pooling, .window = info.window, .computing = computing}, device);
}

}  // namespace

std::vector<genome::Contig> contigs_of(const examples::ExampleSet& examples) {
    try {
        return examples::contigs_from(examples.manifest().value("contigs", Json::array()));
    } catch (const Json::exception&) {
        throw InputError(
            "the examples' manifest.json has a damaged list of contigs; make the examples again");
    }
}

TaskInfo task_info_of(const examples::ExampleSet& examples) {
    const Json& manifest = examples.manifest();
    TaskInfo info;
    info.task = examples.task();
    info.window = examples.bounds();
    if (info.task == examples::Task::promoter) {
        const Json parameters = manifest.value("parameters", Json());
        const Json negatives = parameters.is_object() ? parameters.value("negatives", Json()) : Json();
        if (negatives.is_string()) info.negatives = negatives.get<std::string>();
    }
    info.contigs = contigs_of(examples);
    std::stable_sort(info.contigs.begin(), info.contigs.end(),
                     [](const auto& a, const auto& b) { return a.length > b.length; });
    info.contigs.resize(std::min(info.contigs.size(), contigs_kept));
    return info;
}

Json to_json(const TaskInfo& info) {
    Json json = {{"format", format_version},
                 {"version", std::string(version())},
                 {"task", std::string(to_string(info.task))},
                 {"window", to_string(info.window)},
                 {"pooling", to_string(info.pooling)}};
    if (info.architecture != "bigbird") {
        json["architecture"] = info.architecture;
        json.erase("pooling");
    }
    if (info.architecture != "bigbird" || !info.network.empty()) json["network"] = info.network;
    if (!info.negatives.empty()) json["negatives"] = info.negatives;
    json["contigs"] = examples::contigs_json(info.contigs);
    json["training"] = info.training;
    return json;
}

bool is_task_model(const fs::path& directory) {
    return task_description(directory).is_object();
}

TaskInfo read_task_info(const fs::path& directory) {
    const fs::path where = directory / "config.json";
    const Json json = task_description(directory);
    if (!json.is_object()) {
        throw InputError("is no model for a task: finetune-promoter or finetune-chromatin makes one", where);
    }
    try {
        if (json.at("format") != format_version) {
            throw InputError(
                "was written by another bigbird-dna (" + json.at("version").get<std::string>() + ")", where);
        }
        TaskInfo info;
        info.task = parse_task(json.at("task").get<std::string>(), where);
        info.window = rows::parse_window_bounds(json.at("window").get<std::string>());
        info.architecture = json.value("architecture", "bigbird");
        info.network = json.value("network", Json::object());
        info.pooling = parse_pooling(json.value("pooling", "cls"));
        info.negatives = json.value("negatives", "");
        info.contigs = examples::contigs_from(json.at("contigs"));
        info.training = json.value("training", Json::object());
        return info;
    } catch (const Json::exception&) {
        throw InputError(
            "the task's description, bigbird_dna.task_model, is damaged: a value is missing or of another "
            "kind",
            where);
    } catch (const ConfigError& error) {
        throw InputError(
            "the task's description, bigbird_dna.task_model, is damaged: " + std::string(error.what()),
            where);
    }
}

TaskModel load_task_model(const fs::path& path, examples::Task task, const at::Device& device,
                          const Computing& computing) {
    const fs::path directory = training::find_model(path);
    TaskInfo info = read_task_info(directory);
    if (info.task != task) {
        throw InputError("is a " + std::string(to_string(info.task)) + " model; use predict-" +
                             std::string(to_string(info.task)),
                         directory);
    }
    const bool is_bigbird = info.architecture == "bigbird";
    const std::int64_t outputs =
        is_bigbird ? model::read_config(directory).num_labels : outputs_in(directory);
    TaskModel model{.network = nullptr,
                    .labels = read_labels(directory, outputs),
                    .info = std::move(info),
                    .sha256 = model::weights_checksum(directory)};
    if (const auto calibration = read_calibration(directory, model.labels.size())) {
        model.calibration = ScoreCalibration(*calibration, device);
    }
    if (model.info.architecture == bins_architecture) {
        model.bins = load_base_bins(directory, model.info, outputs, device, computing);
    } else if (is_bigbird && model::read_config(directory).classifier_head == "bins") {
        model.bins = load_token_bins(directory, model.info, device, computing);
    }
    if (model.bins) {
        model.network = bin_in_the_middle(model.bins, model.info);
    } else {
        model.network = is_bigbird ? load_bigbird(directory, model.info, device, computing)
                                   : load_baseline(directory, model.info, outputs, device);
    }
    return model;
}

std::optional<std::string> other_build(const TaskInfo& info, const genome::ReferenceGenome& reference) {
    for (const genome::Contig& contig : info.contigs) {
        const auto index = reference.find(contig.name);
        if (!index) continue;
        const genome::Contig& here = reference.contigs()[*index];
        if (here.length != contig.length) {
            return "contig " + here.name + " has " + std::to_string(here.length) +
                   " bases in --reference, but " + std::to_string(contig.length) +
                   " in the genome that the model was trained on: is it another build?";
        }
    }
    return std::nullopt;
}

}  // namespace bigbird::task_models
