// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tasks/model_folder.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/checksum.hpp"
#include "bigbird/core/formats/is_there.hpp"
#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/version.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/examples/example_format.hpp"
#include "bigbird/model/files/python_file.hpp"
#include "bigbird/model/model_directory.hpp"
#include "bigbird/model/safetensors.hpp"
#include "bigbird/model/weights.hpp"
#include "bigbird/tasks/bases_network.hpp"
#include "bigbird/tasks/profile_network.hpp"
#include "bigbird/training/checkpoint_store.hpp"

#include <ATen/ATen.h>

#include <algorithm>

namespace bigbird::tasks {
namespace fs = std::filesystem;

namespace {

constexpr int format_version = 1;
constexpr std::size_t contigs_kept = 100;

std::vector<genome::Contig> longest(std::vector<genome::Contig> contigs) {
    std::ranges::stable_sort(contigs, std::ranges::greater(), &genome::Contig::length);
    contigs.resize(std::min(contigs.size(), contigs_kept));
    return contigs;
}

examples::Task parse_task(const std::string& text, const fs::path& where) {
    for (const auto& choice : examples::task_choices)
        if (text == choice.word) return choice.value;
    throw InputError("is a model for the task '" + text + "', which this version does not know", where);
}

void require_format(const Json& json, const fs::path& where) {
    if (json.at("format") == format_version) return;
    throw InputError("was written by another bigbird-dna (" + json.at("version").get<std::string>() + ")",
                     where);
}

/// Of a model that labels bases.
void read_windows(const Json& json, TaskInfo& info, const fs::path& where) {
    info.window = {0, whole_number(json, "window")};
    const std::int64_t margin = info.margin.emplace(whole_number(json, "margin"));
    if (margin < 0 || margin > rows::longest_window || info.base_grid().core_bins() < 1)
        throw InputError("has a window without bases", where);
    if (info.window.end > rows::longest_window)
        throw InputError("has a window of more than 2^24 bases", where);
}

std::shared_ptr<TaskNetwork> load_bigbird(const fs::path& directory, const TaskInfo& info,
                                          const at::Device& device, const ComputeOptions& computing) {
    tokenizer::DnaTokenizer tokenizer = model::read_tokenizer(directory, model::read_config(directory));
    model::SequenceClassifier network = model::load_classifier(directory, device);
    network->eval();
    if (info.traits().labels_bases)
        return bigbird_tokens(std::move(network), std::move(tokenizer), computing);
    if (network->config().classifier_head == "bins") {
        return bigbird_bins(std::move(network), std::move(tokenizer),
                            bins::grid_from_json(info.network, directory / "config.json"), computing);
    }
    return bigbird_windows(std::move(network), std::move(tokenizer), info.pooling, info.window, computing);
}

ModelFolder open_folder(const fs::path& directory, TaskInfo info, const Job& job) {
    const at::Device& device = job.device;
    const ComputeOptions& computing = job.computing;
    const bool reads_tokens = info.row().reads_tokens();
    const LinkFunction link = link_in(task_description(directory));
    const std::int64_t outputs =
        reads_tokens ? model::read_config(directory).num_labels : outputs_in(directory);
    TaskFiles files = read_task_files(directory, outputs, link);
    ModelFolder model{.info = std::move(info),
                      .labels = std::move(files.labels),
                      .sha256 = model::weights_checksum(directory),
                      .calibration = {.link = link}};
    if (const auto& scale = model.info.standardisation) {
        if (const std::size_t labels = model.labels.size();
            scale->mean.size() != labels || scale->deviation.size() != labels) {
            throw InputError("standardises " + counted(scale->mean.size(), "number") +
                                 ", but the model has " + std::to_string(labels),
                             directory / "config.json");
        }
        model.calibration.biases = at::tensor(scale->mean, at::kDouble).to(device);
        model.calibration.deviation = at::tensor(scale->deviation, at::kDouble).to(device);
    } else if (files.calibration) {
        model.calibration.temperature = files.calibration->temperature;
        model.calibration.biases = at::tensor(files.calibration->biases, at::kDouble).to(device);
    }
    if (model.info.row().scores_profiles())
        model.network = load_profile_network(directory, model.info, job.component, device);
    else
        model.network = reads_tokens ? load_bigbird(directory, model.info, device, computing)
                                     : load_bases_network(directory, model.info, outputs, device, computing);
    return model;
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
    info.target = examples.target();
    info.window = examples.bounds();
    if (info.traits().about_tss) {
        const Json parameters = manifest.value("parameters", Json());
        const Json negatives = parameters.is_object() ? parameters.value("negatives", Json()) : Json();
        if (negatives.is_string()) info.negatives = negatives.get<std::string>();
    }
    info.contigs = longest(contigs_of(examples));
    return info;
}

TaskInfo bases_info(std::int64_t window, std::int64_t margin, std::vector<genome::Contig> contigs) {
    TaskInfo info;
    info.task = examples::Task::tokens;
    info.window = {0, window};
    info.margin = margin;
    info.contigs = longest(std::move(contigs));
    return info;
}

LinkFunction TaskInfo::link() const {
    if (published_link) return *published_link;
    Json description{{"task", to_string(task)},
                     {"target", word_of(examples::target_choices, target)},
                     {"architecture", architecture}};
    if (standardisation) description["standardisation"] = Json::object();
    return link_in(description);
}

Json to_json(const TaskInfo& info) {
    Json json = {{"format", format_version},
                 {"version", std::string(version())},
                 {"link", word_of(link_words, info.link())}};
    json["task"] = to_string(info.task);
    if (info.traits().labels_bases) {
        json.update(Json{{"window", info.window.size()}, {"margin", *info.margin}});
    } else {
        json["window"] = to_string(info.window);
        if (info.traits().has_records || info.target != examples::TargetKind::labels)
            json["target"] = word_of(examples::target_choices, info.target);
        if (const auto& scale = info.standardisation)
            json["standardisation"] = {{"mean", scale->mean}, {"deviation", scale->deviation}};
        if (info.row().reads_tokens())
            json["pooling"] = word_of(pooling_choices, info.pooling);
        else
            json["architecture"] = info.architecture;
        if (!info.row().reads_tokens() || !info.network.empty()) json["network"] = info.network;
        if (!info.negatives.empty()) json["negatives"] = info.negatives;
    }
    json["contigs"] = examples::contigs_json(info.contigs);
    json["training"] = info.training;
    return json;
}

void write_folder(const TaskNetwork& network, const std::string& type, const TaskInfo& info,
                  const fs::path& directory) {
    model::write_config({{"architectures", {info.row().title}},
                         {"model_type", type},
                         {"num_labels", network.labels()},
                         {"bigbird_dna", {{"task_model", to_json(info)}}}},
                        directory);
    model::write_safetensors(model::parameters_of(*network.module()), directory / "model.safetensors");
}

bool is_task_model(const fs::path& directory) {
    return task_description(directory).is_object();
}

TaskInfo read_task_info(const fs::path& directory) {
    const fs::path where = networks::is_model_file(directory) ? directory : directory / "config.json";
    return parse_task_info(task_description(directory), where);
}

void refuse_profiles(const fs::path& model, const std::string& command) {
    const fs::path found = training::find_model(model);
    if (!is_task_model(found) || !read_task_info(found).row().scores_profiles()) return;
    throw ConfigError(model.string() + " is a published model of profiles, which " + command +
                      " does not take: predict, predict-variants, predict-mutagenesis, attribute and motifs "
                      "marginalize do");
}

TaskInfo parse_task_info(const Json& json, const fs::path& where) {
    if (!json.is_object())
        throw InputError(is_there(where) ? "is no model for a task: finetune makes one"
                                         : "is not there: an adapter has no labels; give its run or the "
                                           "run's model/, whose weights hold the adapter",
                         where);
    const std::string damaged = "the task's description, bigbird_dna.task_model, is damaged: ";
    try {
        require_format(json, where);
        link_in(json);  // throws for one that is not known
        TaskInfo info;
        info.task = parse_task(json.at("task").get<std::string>(), where);
        info.contigs = examples::contigs_from(json.at("contigs"));
        info.training = json.value("training", Json::object());
        if (info.traits().labels_bases) {
            read_windows(json, info, where);
            return info;
        }
        if (info.traits().has_records || json.contains("target")) {
            info.target =
                parse_choice(examples::target_choices, "target", json.at("target").get<std::string>());
            if (json.contains("standardisation")) {
                const Json& given = json.at("standardisation");
                info.standardisation =
                    Standardisation{.mean = given.at("mean").get<std::vector<double>>(),
                                    .deviation = given.at("deviation").get<std::vector<double>>()};
            }
        }
        info.window = rows::parse_window_bounds(json.at("window").get<std::string>());
        info.architecture = json.value("architecture", std::string(bigbird_name));
        if (info.row().scores_profiles()) info.published_link = link_in(json);
        info.network = json.value("network", Json::object());
        info.pooling = parse_choice(pooling_choices, "--pooling", json.value("pooling", "cls"));
        info.negatives = json.value("negatives", "");
        return info;
    } catch (const Json::exception&) {
        throw InputError(damaged + "a value is missing or of another kind", where);
    } catch (const ConfigError& error) {
        throw InputError(damaged + error.what(), where);
    }
}

namespace {

ModelFolder open_network(const fs::path& directory, std::optional<examples::Task> task, const Job& job) {
    TaskInfo info = read_task_info(directory);
    if (task ? info.task != *task : info.traits().labels_bases) {
        const std::string own(to_string(info.task));
        throw InputError("is a " + own + " model; use predict-" + own, directory);
    }
    if (networks::is_model_file(directory)) return open_profile_file(directory, job.component, job.device);
    return open_folder(directory, std::move(info), job);
}

}  // namespace

std::vector<fs::path> model_folders(const fs::path& path) {
    if (networks::is_model_file(path)) return {path};
    std::vector<fs::path> folders{training::find_model(path)};
    const fs::path others = folders.front() / folds_folder;
    for (int i = 2; is_there(others / std::to_string(i) / "config.json"); ++i)
        folders.push_back(others / std::to_string(i));
    return folders;
}

ModelFolder open_model(const fs::path& path, std::optional<examples::Task> task, const at::Device& device,
                       const ComputeOptions& computing) {
    const std::vector<fs::path> folders = model_folders(path);
    if (folders.size() > 1) log_info("{}: takes the first of the {} networks", path.string(), folders.size());
    return open_network(folders.front(), task, {.device = device, .computing = computing});
}

std::vector<ModelFolder> open_models(std::span<const fs::path> paths, std::optional<examples::Task> task,
                                     const Job& job) {
    std::vector<ModelFolder> models;
    for (const fs::path& path : paths)
        for (const fs::path& folder : model_folders(path))
            models.push_back(open_network(folder, task, job));
    return models;
}

at::Tensor on_other_strand(const at::Tensor& values, const rows::LabelTable& labels) {
    if (!labels.has_strand_pairs()) return values;
    std::vector<std::int64_t> order;
    for (std::size_t label = 0; label < labels.size(); ++label)
        order.push_back(static_cast<std::int64_t>(labels.on_other_strand(label)));
    return values.index_select(-1, at::tensor(order, values.options().dtype(at::kLong)));
}

std::string contigs_checksum(const genome::ReferenceGenome& reference) {
    std::string text;
    for (const genome::Contig& contig : reference.contigs())
        text += contig.name + "\t" + std::to_string(contig.length) + "\n";
    return sha256_of_text(text);
}

std::optional<std::string> other_build(const TaskInfo& info, const genome::ReferenceGenome& reference) {
    // Silent: an alias is worth a word where a file of the user has it, not the model.
    const genome::ContigNames names(reference.contigs(), false);
    for (const genome::Contig& contig : info.contigs) {
        const auto index = names.find(contig.name);
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

}  // namespace bigbird::tasks
