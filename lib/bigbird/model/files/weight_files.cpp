// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/files/weight_files.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/checksum.hpp"
#include "bigbird/core/formats/file_name.hpp"
#include "bigbird/core/formats/is_there.hpp"
#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/model/files/safetensors_header.hpp"
#include "bigbird/networks/files/file_kind.hpp"
#include "bigbird/networks/files/torch_file.hpp"

#include <set>
#include <string_view>

namespace bigbird::model {
namespace fs = std::filesystem;

namespace {

/// The parts that an index names.
std::vector<std::string> parts_of(const fs::path& index) {
    const Json json = read_json(index);
    if (!json.is_object() || !json.contains("weight_map") || !json.at("weight_map").is_object())
        throw InputError("has no weight_map", index);
    std::set<std::string> parts;
    for (const auto& [key, part] : json.at("weight_map").items()) {
        const std::string name = part.is_string() ? part.get<std::string>() : "";
        if (!is_file_name(name)) throw InputError("names no file beside it for '" + key + "'", index);
        parts.insert(name);
    }
    return {parts.begin(), parts.end()};
}

}  // namespace

std::vector<std::string> weight_files(const fs::path& directory) {
    for (const char* name : {"model.safetensors", "pytorch_model.bin"}) {
        if (is_there(directory / name)) return {name};
        const fs::path index = directory / (std::string(name) + ".index.json");
        if (is_there(index)) return parts_of(index);
    }
    if (constexpr const char* adapter = "adapter_model.safetensors"; is_there(directory / adapter))
        return {adapter};
    return {"model.safetensors"};
}

bool is_torch_file(const fs::path& file) {
    return file.extension() == ".bin";
}

fs::path weight_file(const fs::path& directory) {
    return directory / weight_files(directory).front();
}

std::string present_name(std::string name) {
    constexpr std::string_view wrapper = "module.", compiled = "_orig_mod.";
    for (std::size_t at = name.find(compiled); at != std::string::npos; at = name.find(compiled))
        name.erase(at, compiled.size());
    while (name.starts_with(wrapper))
        name.erase(0, wrapper.size());
    constexpr std::string_view gamma = "LayerNorm.gamma", beta = "LayerNorm.beta";
    if (name.ends_with(gamma)) name.replace(name.size() - 5, 5, "weight");
    if (name.ends_with(beta)) name.replace(name.size() - 4, 4, "bias");
    return name;
}

WeightShapes weight_shapes(const fs::path& directory) {
    WeightShapes shapes;
    for (const std::string& part : weight_files(directory)) {
        const fs::path file = directory / part;
        if (is_torch_file(file)) {
            networks::kind_of_file(file);  // says what else it may be
            const networks::TorchFile torch(file);
            for (const auto& [name, tensor] : torch.tensors())
                shapes.emplace(present_name(name), tensor.shape);
        } else {
            for (const auto& [name, entry] : read_safetensors_header(file).tensors)
                shapes.emplace(present_name(name), entry.shape);
        }
    }
    return shapes;
}

std::string weights_checksum(const fs::path& directory) {
    const std::vector<std::string> files = weight_files(directory);
    if (files.size() == 1) return sha256_of_file(directory / files.front());
    std::string list;
    for (const std::string& part : files)
        list += sha256_of_file(directory / part) + ' ' + part + '\n';
    return sha256_of_text(list);
}

}  // namespace bigbird::model
