// SPDX-License-Identifier: Apache-2.0
#include "bigbird/networks/files/profile_folder.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/version.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/rows/label_table.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <utility>

namespace bigbird::networks {

namespace fs = std::filesystem;

namespace {

constexpr int task_format = 1;

/// The window of `input` bases about its middle, as WindowBounds writes it.
std::string window_of(std::int64_t input) {
    const std::int64_t begin = -(input / 2);
    return std::to_string(begin) + ":" + std::to_string(begin + input);
}

std::size_t group_count(const ProfileModel& model) {
    return model.parts.front().shape.groups.size();
}

void write_file(const fs::path& file, const std::function<void(std::ostream&)>& body) {
    std::ofstream out(file, std::ios::binary);
    body(out);
    if (!out.flush()) throw WriteError(file.string() + ": writing failed");
}

/// Names as of a network's parameters: those of a named part begin with its name and a dot.
std::vector<std::pair<std::string, const StoredTensor*>> named_tensors(const ProfileModel& model) {
    std::vector<std::pair<std::string, const StoredTensor*>> tensors;
    for (const ProfilePart& part : model.parts)
        for (const auto& [name, tensor] : part.weights)
            tensors.emplace_back((part.name.empty() ? "" : part.name + ".") + name, &tensor);
    return tensors;
}

void write_safetensors(const ProfileModel& model, std::ostream& out) {
    const auto tensors = named_tensors(model);
    Json header{{"__metadata__", {{"format", "pt"}}}};
    std::uint64_t at = 0;
    for (const auto& [name, tensor] : tensors) {
        const std::uint64_t end = at + tensor->values.size() * sizeof(float);
        header[name] = {{"dtype", "F32"}, {"shape", tensor->shape}, {"data_offsets", {at, end}}};
        at = end;
    }
    std::string text = header.dump();
    text.resize((text.size() + 7) / 8 * 8, ' ');
    const std::uint64_t size = text.size();
    out.write(reinterpret_cast<const char*>(&size), sizeof size);
    out << text;
    for (const auto& named : tensors)
        out.write(reinterpret_cast<const char*>(named.second->values.data()),
                  static_cast<std::streamsize>(named.second->values.size() * sizeof(float)));
}

rows::LabelTable label_table(const ProfileModel& model) {
    std::vector<rows::Label> labels;
    for (std::string& name : profile_labels(group_count(model)))
        labels.push_back({.name = std::move(name)});
    return rows::LabelTable(std::move(labels));
}

// ---- for people

std::string about_bias(const ProfileModel& model) {
    const std::string bias = model.bias();
    if (bias == "no") return "removed: a model of the bias was trained with it and is left out";
    if (bias == "only") return "this is a bias model: scores of the enzyme's bias, no biology";
    if (bias == "unknown") return "the file does not tell";
    return model.parts.size() > 1 ? "in all predictions of the joined parts; --component nobias leaves it out"
                                  : "not removed: networks of this family have no model of it";
}

std::string about_columns(const ProfileShape& shape) {
    if (shape.columns() == 1) return "1";
    if (shape.groups.size() == 1) return fmt::format("{} (strands)", shape.columns());
    return fmt::format("{} (in groups of {})", shape.columns(), fmt::join(shape.groups, ", "));
}

Json parts_json(const ProfileModel& model) {
    Json parts = Json::object();
    for (const ProfilePart& part : model.parts) {
        const ProfileShape& shape = part.shape;
        parts[part.name.empty() ? "network" : part.name] = {{"filters", shape.filters},
                                                            {"layers", shape.layers},
                                                            {"stem", shape.stem},
                                                            {"head", shape.head},
                                                            {"trunk", word_of(trunk_words, shape.trunk)},
                                                            {"positions_of_counts", shape.counts}};
    }
    return parts;
}

}  // namespace

std::vector<std::string> profile_labels(std::size_t groups) {
    if (groups == 1) return {"counts"};
    std::vector<std::string> labels;
    for (std::size_t i = 1; i <= groups; ++i)
        labels.push_back("counts_" + std::to_string(i));
    return labels;
}

Json folder_description(const ProfileModel& model) {
    Json parts = Json::object();
    for (const ProfilePart& part : model.parts)
        parts[part.name] = to_json(part.shape);
    const Json network{
        {"family", model.family}, {"parts", parts}, {"sha256", model.sha256}, {"source", model.source}};
    const Json task{{"format", task_format},
                    {"version", version()},
                    {"link", model.parts.front().shape.count_offset == 2 ? "strand_counts" : "counts"},
                    {"task", "chromatin"},
                    {"target", "numbers"},
                    {"window", window_of(model.parts.front().shape.input)},
                    {"architecture", profile_architecture},
                    {"network", network},
                    {"contigs", model.contigs},
                    {"training", model.training}};
    return {{"architectures", {"ProfileNetwork"}},
            {"model_type", profile_model_type},
            {"num_labels", group_count(model)},
            {"bigbird_dna", {{"task_model", task}}}};
}

ProfileModel profile_model_from(const Json& task_model, const fs::path& where) {
    ProfileModel model;
    try {
        const Json& network = task_model.at("network");
        model.family = network.at("family").get<std::string>();
        model.sha256 = network.at("sha256").get<std::string>();
        model.source = network.at("source");
        for (const auto& [name, shape] : network.at("parts").items())
            model.parts.push_back({.name = name, .shape = shape_from_json(shape, where)});
    } catch (const Json::exception& error) {
        throw InputError("does not describe a profile network: " + std::string(error.what()), where);
    }
    const auto is_name = [](const ProfilePart& part) { return part.name == "nobias" || part.name == "bias"; };
    const bool single = model.parts.size() == 1 && (model.parts[0].name.empty() || is_name(model.parts[0])),
               joined = model.parts.size() == 2 && std::ranges::all_of(model.parts, is_name) &&
                        model.parts[0].name != model.parts[1].name &&
                        model.parts[0].shape.input == model.parts[1].shape.input &&
                        model.parts[0].shape.output == model.parts[1].shape.output &&
                        model.parts[0].shape.groups == model.parts[1].shape.groups;
    if (!single && !joined)
        throw InputError("does not describe a profile network: its parts do not fit", where);
    return model;
}

void write_profile_folder(const ProfileModel& model, const fs::path& directory) {
    write_file(
        directory / "config.json",
        [&](std::ostream& out) { out << folder_description(model).dump(2) << '\n'; });
    write_file(
        directory / "model.safetensors", [&](std::ostream& out) { write_safetensors(model, out); });
    write_file(directory / "labels.tsv", [&](std::ostream& out) { out << label_table(model).to_text(); });
}

Json describe(const ProfileModel& model) {
    const ProfileShape& shape = model.parts.front().shape;
    std::size_t parameters = 0;
    for (const auto& named : named_tensors(model))
        parameters += named.second->values.size();
    Json json{{"kind", "model of base-resolution profiles"}, {"family", model.family}};
    if (const std::string component = model.component(); !component.empty()) json["component"] = component;
    json["input"] = counted(shape.input, "base");
    json["output"] = counted(shape.output, "base");
    json["profiles"] = about_columns(shape);
    json["groups"] = shape.groups.size();
    if (parameters > 0) json["parameters"] = parameters;
    json["counts"] = fmt::format("log counts: reads in the {} bases are exp(log count) - {}", shape.output,
                                 shape.count_offset);
    json["profile"] =
        "probabilities of a read at each base: softmax of its logits over a group's columns and bases";
    json["enzyme_bias"] = model.bias();
    json["about_bias"] = about_bias(model);
    for (const auto& [key, value] : model.source.items())
        json[key] = value;
    json["sha256"] = model.sha256;
    json["parts"] = parts_json(model);
    return json;
}

}  // namespace bigbird::networks
