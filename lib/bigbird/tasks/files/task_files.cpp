// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tasks/files/task_files.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/is_there.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/version.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/model/files/config.hpp"
#include "bigbird/networks/files/profile_folder.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>

namespace bigbird::tasks {

namespace fs = std::filesystem;

namespace {

constexpr int format_version = 1;

/// Whether the folder was written with a calibration.json.
bool is_calibrated(const Json& task) {
    return task.is_object() && task.value("calibrated", Json()) == true;
}

/// A link function's name in calibration.json.
constexpr const char* method_of(LinkFunction link) {
    return link == LinkFunction::softmax
               ? "probabilities = softmax(logits / temperature + biases)"
               : "probability = 1 / (1 + exp(-(logit / temperature + bias of the label)))";
}

evaluation::Calibration calibration_from(const Json& json) {
    evaluation::Calibration calibration{.temperature = json.at("temperature").get<double>(),
                                        .biases = json.at("biases").get<std::vector<double>>()};
    const bool finite =
        std::ranges::all_of(calibration.biases, [](double bias) { return std::isfinite(bias); });
    if (!finite || !std::isfinite(calibration.temperature) || calibration.temperature <= 0)
        throw ConfigError("temperature must be above 0, and every bias a number");
    return calibration;
}

/// The name of a class in transformers' config.json.
std::string class_name(const Json& config, std::int64_t index) {
    const Json names = config.value("id2label", Json());
    const std::string number = std::to_string(index);
    if (names.is_object() && names.contains(number) && names.at(number).is_string())
        return names.at(number).get<std::string>();
    return "LABEL_" + number;
}

/// Describes a classifier of sequences that transformers fine-tuned; null for other folders.
Json published_task(const fs::path& directory, const Json& config) {
    const model::BigBirdConfig read = model::config_of_folder(directory);
    if (read.num_labels < 1) return {};
    const std::string problem = config.value("problem_type", Json()).is_string()
                                    ? config.at("problem_type").get<std::string>()
                                : read.num_labels == 1 ? "regression"
                                                       : "single_label_classification";
    const bool numbers = problem == "regression", classes = problem == "single_label_classification";
    const bool mean =
        config.value("classifier_pooling", Json("cls")) == "mean" && config.contains("classifier_pooling");
    constexpr std::int64_t bases_per_token = 8;  // a token of most models has fewer
    return {{"format", format_version},
            {"version", std::string(version())},
            {"link", numbers   ? "identity"
                     : classes ? "softmax"
                               : "logistic"},
            {"task", "sequences"},
            {"target", numbers   ? "numbers"
                       : classes ? "classes"
                                 : "labels"},
            {"window", "0:" + std::to_string(bases_per_token * read.positions())},
            {"pooling", mean ? "mean" : "cls"},
            {"contigs", Json::array()},
            {"training", Json::object()}};
}

rows::LabelTable published_labels(const Json& config, std::int64_t count) {
    std::vector<rows::Label> labels;
    for (std::int64_t i = 0; i < count; ++i)
        labels.push_back({.name = class_name(config, i)});
    return rows::LabelTable(std::move(labels));
}

}  // namespace

Json task_description(const fs::path& directory) {
    if (networks::is_model_file(directory)) {
        return networks::folder_description(networks::read_profile_model(directory))
            .at("bigbird_dna")
            .at("task_model");
    }
    if (is_there(directory / "adapter_config.json") && !is_there(directory / "config.json")) return {};
    const Json config = read_json(directory / "config.json");
    if (config.is_object() && !model::is_own_config(config) && config.contains("architectures"))
        return published_task(directory, config);
    const Json ours = config.is_object() ? config.value("bigbird_dna", Json::object()) : Json::object();
    return ours.is_object() ? ours.value("task_model", Json()) : Json();
}

LinkFunction link_in(const Json& task) {
    if (const Json link = task.value("link", Json()); !link.is_null())
        return parse_choice(link_words, "link", link.is_string() ? link.get<std::string>() : link.dump());
    // The link of a new model, and of folders that do not have it, which were written up to November 2026.
    // Ridge regression of coverage fits standardized numbers; networks of coverage give positive rates.
    const Json target = task.value("target", Json());
    if (task.value("task", Json()) == "tokens" || target == "classes") return LinkFunction::softmax;
    if (target != "numbers") return LinkFunction::logistic;
    if (task.value("task", Json()) == "chromatin" && task.value("architecture", Json()) != "kmer-ridge")
        return LinkFunction::softplus;
    return task.contains("standardisation") ? LinkFunction::identity : LinkFunction::exponential;
}

std::int64_t outputs_in(const fs::path& directory) {
    const Json config = read_json(directory / "config.json");
    if (config.is_object() && !model::is_own_config(config))
        return model::config_of_folder(directory).num_labels;
    const Json outputs = config.is_object() ? config.value("num_labels", Json()) : Json();
    if (!outputs.is_number_integer()) throw InputError("lacks num_labels", directory / "config.json");
    return outputs.get<std::int64_t>();
}

void write_labels(const rows::LabelTable& labels, const fs::path& directory) {
    const fs::path file = directory / "labels.tsv";
    std::ofstream out(file, std::ios::binary);
    out << labels.to_text();
    if (!out.flush()) throw WriteError(file.string() + ": writing failed");
}

void write_calibration(const FittedCalibration& fitted, const fs::path& directory) {
    const evaluation::CalibrationFit& fit = fitted.fit;
    const char* const rows = fitted.of_bases ? "bases_of_validation" : "rows_of_validation";
    write_json(directory / calibration_file,
               {{"format", format_version},
                {"method", method_of(fitted.link)},
                {rows, fitted.rows},
                {"cross_entropy_before", fit.loss_before},
                {"cross_entropy_after", fit.loss_after},
                {"temperature", fit.calibration.temperature},
                {"biases", fit.calibration.biases}},
               Overwrite::allow);
    Json config = read_json(directory / "config.json");
    config["bigbird_dna"]["task_model"]["calibrated"] = true;
    write_json(directory / "config.json", config, Overwrite::allow);
}

std::optional<evaluation::Calibration> read_calibration(const fs::path& directory, std::size_t labels,
                                                        LinkFunction link) {
    const fs::path file = directory / calibration_file;
    if (!is_there(file)) return std::nullopt;
    const Json json = read_json(file);
    try {
        if (json.at("format") != format_version) throw InputError("was written by another bigbird-dna", file);
        // Files without a method are for the logistic function.
        const std::string wanted = method_of(link),
                          found = json.value("method", method_of(LinkFunction::logistic));
        if (found != wanted)
            throw InputError("was fitted for another kind of model: '" + found + "', not '" + wanted + "'",
                             file);
        evaluation::Calibration calibration = calibration_from(json);
        if (calibration.biases.size() != labels) {
            throw InputError("has " + counted(calibration.biases.size(), "bias") + ", but the model has " +
                                 counted(labels, "label"),
                             file);
        }
        return calibration;
    } catch (const Json::exception&) {
        throw InputError(
            "is damaged: a value is missing or of another kind; restore it, or fit the model again", file);
    } catch (const ConfigError& damage) {
        throw InputError("is damaged: " + std::string(damage.what()), file);
    }
}

TaskFiles read_task_files(const fs::path& directory, std::int64_t outputs, LinkFunction link) {
    const fs::path file = directory / "labels.tsv";
    refuse_named_pipe(file);
    const Json config = read_json(directory / "config.json");
    TaskFiles files{is_there(file) || model::is_own_config(config) ? rows::LabelTable::read(file)
                                                                   : published_labels(config, outputs),
                    std::nullopt};
    const std::size_t labels = files.labels.size();
    if (static_cast<std::int64_t>(labels) != outputs) {
        throw InputError("has " + counted(labels, "label") + ", but the network gives " +
                             std::to_string(outputs) + "; restore the file that belongs to it",
                         file);
    }
    if (gives_probabilities(link)) files.calibration = read_calibration(directory, labels, link);
    if (!files.calibration && is_calibrated(task_description(directory))) {
        throw InputError("is missing, and config.json says that scores are calibrated: copy " +
                             std::string(calibration_file) + ", too",
                         directory / calibration_file);
    }
    return files;
}

bool check_task_files(const fs::path& directory) {
    const Json task = task_description(directory);
    if (!task.is_object()) return false;
    try {
        read_task_files(directory, outputs_in(directory), link_in(task));
    } catch (const ConfigError& damage) {
        throw InputError("is damaged: " + std::string(damage.what()), directory / "config.json");
    }
    return true;
}

model::CardResult card_figures(const evaluation::EvaluationReport& report,
                               const evaluation::FileEvaluation& file) {
    using evaluation::Kind;
    struct Known {
        const char *figure, *type, *name;
        bool of_promoters = false;
    };
    constexpr Known known[] = {{"auroc_mean", "roc_auc", "Mean AUROC"},
                               {"auprc_mean", "average_precision", "Mean AUPRC"},
                               {"accuracy", "accuracy", "Accuracy"},
                               {"mcc", "matthews_correlation", "MCC"},
                               {"f1_macro", "f1", "Mean F1"},
                               {"auroc", "roc_auc", "AUROC", true},
                               {"auprc", "average_precision", "AUPRC", true},
                               {"f1", "f1", "F1", true},
                               {"pearson", "pearsonr", "Pearson r"},
                               {"spearman", "spearmanr", "Spearman r"},
                               {"r2", "r_squared", "R2"},
                               {"mse", "mse", "Mean squared error"}};
    const bool test = report.about["split"] == "test";
    model::CardResult result{
        .task = model::card_task(report.kind == Kind::coverage ? "coverage"
                                                               : report.about["task"].get<std::string>()),
        .split = report.about["split"].get<std::string>(),
        .data = fmt::format("{} {}", counted(report.rows, "row"),
                            test ? "of test, which nothing was trained on" : "held out to choose the step")};
    for (std::size_t i = 0; i < report.names.size(); ++i) {
        const auto* const one = std::ranges::find(known, report.names[i], &Known::figure);
        if (one != std::end(known) && file.figures.all[i].value &&
            (report.kind != Kind::promoters || one->of_promoters))
            result.metrics.push_back({one->type, one->name, *file.figures.all[i].value});
    }
    if (file.reliability) {
        result.metrics.push_back(
            {"expected_calibration_error", "Calibration error", file.reliability->calibration_error});
    }
    return result;
}

}  // namespace bigbird::tasks
