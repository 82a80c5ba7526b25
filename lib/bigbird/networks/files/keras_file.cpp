// SPDX-License-Identifier: Apache-2.0
#include "bigbird/networks/files/keras_file.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/files.hpp"
#include "bigbird/core/system/child_process.hpp"
#include "bigbird/networks/files/keras_hdf5.hpp"
#include "bigbird/networks/files/printable.hpp"

#include <algorithm>
#include <utility>

namespace bigbird::networks {

namespace {

constexpr std::size_t longest_config = std::size_t{1} << 26;

KerasWeight weight_from(const Json& json) {
    const std::string layer = printable(json.at("layer").get<std::string>());
    const auto parts = json.at("parts").get<std::vector<std::string>>();
    if (parts.empty()) throw Json::other_error::create(501, "a weight has no name", &json);
    KerasWeight weight{.model = "", .layer = layer, .kind = parts.back().substr(0, parts.back().find(':'))};
    const std::string within = parts.size() > 1 ? printable(parts[parts.size() - 2]) : layer;
    if (within != layer) {
        weight.model = layer;
        weight.layer = within;
    }
    weight.shape = json.at("shape").get<std::vector<std::int64_t>>();
    return weight;
}

bool has_shape(std::size_t numbers, const std::vector<std::int64_t>& shape) {
    auto left = static_cast<std::int64_t>(numbers);
    for (const std::int64_t size : shape) {
        if (size < 1 || left % size != 0) return false;
        left /= size;
    }
    return left == 1;
}

InputError no_description(const std::filesystem::path& path) {
    return {"is damaged: its model_config is no description of a network", path};
}

std::vector<std::string> names_from(const Json& json) {
    auto names = json.get<std::vector<std::string>>();
    for (std::string& name : names)
        name = printable(std::move(name));
    return names;
}

KerasFile file_from(const Json& head, const std::filesystem::path& path) {
    KerasFile file;
    file.contents = names_from(head.at("contents"));
    file.layers = names_from(head.at("layers"));
    file.keras_version = printable(head.at("keras_version").get<std::string>());
    const auto config = head.at("config").get<std::string>();
    if (config.size() > longest_config || nests_too_deeply(config)) throw no_description(path);
    if (!config.empty()) file.config = Json::parse(config);
    if (head.contains("weights"))
        for (const Json& weight : head["weights"])
            file.weights.push_back(weight_from(weight));
    return file;
}

}  // namespace

KerasFile keras_file_from(const std::string& head, const std::filesystem::path& path) {
    try {
        return file_from(Json::parse(head), path);
    } catch (const Json::exception&) {
        throw no_description(path);
    }
}

bool KerasFile::has_layer(std::string_view name) const {
    return std::ranges::find(layers, name) != layers.end();
}

KerasFile read_keras_file(const std::filesystem::path& path,
                          const std::function<void(const KerasFile&)>& check) {
    require_readable(path);
    ChildReader reader(path, send_keras_file);
    KerasFile file = keras_file_from(reader.next(), path);
    check(file);
    for (KerasWeight& weight : file.weights) {
        weight.values = reader.next_numbers<float>();
        if (!has_shape(weight.values.size(), weight.shape)) reader.throw_unfit();
    }
    return file;
}

}  // namespace bigbird::networks
