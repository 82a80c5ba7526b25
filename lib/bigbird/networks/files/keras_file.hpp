// SPDX-License-Identifier: Apache-2.0
// Layers and weights of an HDF5 file that Keras 2 or 3 wrote, by its own lists. Nothing in it is executed.
#pragma once

#include "bigbird/core/formats/json_file.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace bigbird::networks {

struct KerasWeight {
    std::string model;  ///< the nested model that has the layer; "" for layers of the file's own model
    std::string layer;
    std::string kind;  ///< "kernel", "bias", …, without ":0"
    std::vector<std::int64_t> shape{};
    std::vector<float> values{};
};

struct KerasFile {
    std::vector<std::string> contents;  ///< names at the root, of any HDF5 file
    std::vector<std::string> layers;    ///< of the file's own model; empty if Keras did not write the file
    std::string keras_version;          ///< "" if the file does not tell
    Json config;                        ///< the model's class_name and config; null if the file does not tell
    std::vector<KerasWeight> weights;

    bool has_layer(std::string_view name) const;
};

/// All but the values, from what send_keras_file() sends first. Throws InputError naming `path`.
KerasFile keras_file_from(const std::string& head, const std::filesystem::path& path);

/// In a process of its own (ChildReader). `check` sees all but the values, and may throw before these are
/// read. Throws InputError if the file is not HDF5, is damaged, stores weights outside of itself, through
/// filters other than gzip and shuffle or in another type than float32, or more of them than fit into such a
/// file.
KerasFile read_keras_file(const std::filesystem::path& path,
                          const std::function<void(const KerasFile&)>& check);

}  // namespace bigbird::networks
