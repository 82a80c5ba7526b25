// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/files/task_files.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/is_there.hpp"
#include "bigbird/task_models/files/calibration_file.hpp"

#include <string>

namespace bigbird::task_models {
namespace fs = std::filesystem;

Json task_description(const fs::path& directory) {
    const Json config = read_json(directory / "config.json");
    const Json ours = config.is_object() ? config.value("bigbird_dna", Json::object()) : Json::object();
    return ours.is_object() ? ours.value("task_model", Json()) : Json();
}

std::int64_t outputs_in(const fs::path& directory) {
    const Json config = read_json(directory / "config.json");
    const Json outputs = config.is_object() ? config.value("num_labels", Json()) : Json();
    if (!outputs.is_number_integer()) throw InputError("lacks num_labels", directory / "config.json");
    return outputs.get<std::int64_t>();
}

rows::LabelTable read_labels(const fs::path& directory, std::int64_t outputs) {
    const fs::path file = directory / "labels.tsv";
    refuse_named_pipe(file);
    rows::LabelTable labels = rows::LabelTable::read(file);
    if (static_cast<std::int64_t>(labels.size()) == outputs) return labels;
    throw InputError("has " + std::to_string(labels.size()) + " labels, but the network gives " +
                         std::to_string(outputs) + "; restore the file that belongs to it",
                     file);
}

bool check_task_files(const fs::path& directory) {
    const Json task = task_description(directory);
    if (!task.is_object()) return false;
    const rows::LabelTable labels = read_labels(directory, outputs_in(directory));
    const bool is_of_tokens = task.value("task", Json()) == "tokens";
    read_calibration(directory, labels.size(), is_of_tokens ? LinkFunction::softmax : LinkFunction::logistic);
    return true;
}

}  // namespace bigbird::task_models
