// SPDX-License-Identifier: Apache-2.0
// The layers of one model in a Keras file: weights laid out as PyTorch's, checked against the model's
// description where the file has one.
#pragma once

#include "bigbird/core/error.hpp"
#include "bigbird/networks/files/keras_file.hpp"
#include "bigbird/networks/files/profile_model.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace bigbird::networks {

/// Kernel and bias of a layer, as PyTorch lays them: (out, in, width) or (out, in).
struct LayerWeights {
    StoredTensor weight, bias;
};

class KerasLayers {
public:
    /// The model of this name ("": the file's own) in `file`, which must outlive this.
    KerasLayers(const KerasFile& file, const std::string& model, const std::filesystem::path& path);

    bool has_weights(const std::string& layer) const { return kernels_.contains(layer); }
    /// Whether the file describes its layers; else what weights do not show is taken for the authors'
    /// defaults.
    bool is_described() const { return !described_.empty(); }
    /// The class of a layer; "" if it is not described.
    std::string kind_of(const std::string& layer) const;
    bool has_kind(std::string_view kind) const;

    /// Throws InputError if the layer is missing, or differs from what is asked for. Each layer that is taken
    /// counts as known (require_all_known).
    LayerWeights convolution(const std::string& layer, std::string_view activation,
                             std::int64_t dilation = 1);
    LayerWeights dense(const std::string& layer);
    /// Bases of the input `sequence`; positions that a Cropping1D removes from each end. nullopt if nothing
    /// is described.
    std::optional<std::int64_t> input() const;
    std::optional<std::int64_t> crop(const std::string& layer) const;
    /// Throws InputError if the model has weights that were not taken.
    void require_all_known() const;

    [[noreturn]] void refuse(const std::string& what) const { throw InputError(what, path_); }

private:
    struct Described {
        std::string kind;
        Json config;
    };
    struct Stored {
        const KerasWeight *kernel = nullptr, *bias = nullptr;
    };
    const Stored& stored(const std::string& layer, std::size_t axes);
    const Json* config_of(const std::string& layer, std::string_view kind) const;
    void require(const std::string& layer, const Json& config, const char* key, const Json& wanted) const;
    void require_float32(const std::string& layer, const Json& config) const;

    const std::filesystem::path& path_;
    std::map<std::string, Stored> kernels_;
    std::map<std::string, Described> described_;
    std::set<std::string> known_;
};

}  // namespace bigbird::networks
