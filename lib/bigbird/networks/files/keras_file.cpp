// SPDX-License-Identifier: Apache-2.0
#include "bigbird/networks/files/keras_file.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/files.hpp"
#include "bigbird/core/system/child_process.hpp"
#include "bigbird/networks/files/keras_hdf5.hpp"

#include <algorithm>

namespace bigbird::networks {

namespace {

constexpr std::size_t longest_config = std::size_t{1} << 26;

KerasWeight weight_from(const Json& json) {
    const auto layer = json.at("layer").get<std::string>();
    const auto parts = json.at("parts").get<std::vector<std::string>>();
    KerasWeight weight{.model = "", .layer = layer, .kind = parts.back().substr(0, parts.back().find(':'))};
    if (parts.size() > 1 && parts[parts.size() - 2] != layer) {
        weight.model = layer;
        weight.layer = parts[parts.size() - 2];
    }
    weight.shape = json.at("shape").get<std::vector<std::int64_t>>();
    return weight;
}

KerasFile file_from(const Json& head, const std::filesystem::path& path) {
    KerasFile file;
    file.contents = head.at("contents").get<std::vector<std::string>>();
    file.layers = head.at("layers").get<std::vector<std::string>>();
    file.keras_version = head.at("keras_version").get<std::string>();
    const auto config = head.at("config").get<std::string>();
    if (config.size() > longest_config || nests_too_deeply(config))
        throw InputError("is damaged: its model_config is no description of a network", path);
    if (!config.empty()) file.config = Json::parse(config);
    if (head.contains("weights"))
        for (const Json& weight : head["weights"])
            file.weights.push_back(weight_from(weight));
    return file;
}

}  // namespace

bool KerasFile::has_layer(std::string_view name) const {
    return std::ranges::find(layers, name) != layers.end();
}

KerasFile read_keras_file(const std::filesystem::path& path,
                          const std::function<void(const KerasFile&)>& check) {
    require_readable(path);
    ChildReader reader(path, send_keras_file);
    KerasFile file;
    try {
        file = file_from(Json::parse(reader.next()), path);
    } catch (const Json::exception&) {
        throw InputError("is damaged: its model_config is no description of a network", path);
    }
    check(file);
    for (KerasWeight& weight : file.weights) {
        weight.values = reader.next_numbers<float>();
        std::int64_t numbers = 1;
        for (const std::int64_t size : weight.shape)
            numbers *= size;
        if (weight.values.size() != static_cast<std::size_t>(numbers)) reader.throw_unfit();
    }
    return file;
}

}  // namespace bigbird::networks
