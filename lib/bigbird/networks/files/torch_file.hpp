// SPDX-License-Identifier: Apache-2.0
// A file of torch.save(): its tensors by name, and its plain values. Nothing in it is executed.
#pragma once

#include "bigbird/core/formats/json_file.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace bigbird::networks {

class ZipFile;

/// A tensor as it is stored: a view of a storage, which several may share.
struct TorchTensor {
    std::string type;  ///< F64, F32, F16, BF16, I64, I32, I16, I8, U8 or BOOL, as in safetensors
    std::vector<std::int64_t> shape, strides;
    std::int64_t offset = 0;               ///< of its first number in the storage
    std::span<const std::byte> storage{};  ///< within the file, little-endian

    std::int64_t elements() const;
    /// Its numbers in order, each as its type's bytes.
    std::string bytes() const;
    /// The same as float32, of F64, F32, F16 and BF16. Throws ConfigError for other types.
    std::vector<float> floats() const;
};

/// Immutable. Each tensor lies within its storage, and none has more elements than that.
class TorchFile {
public:
    /// Throws InputError if the file is no zip of torch.save(), or is damaged.
    explicit TorchFile(const std::filesystem::path& path);
    ~TorchFile();
    TorchFile(const TorchFile&) = delete;
    TorchFile& operator=(const TorchFile&) = delete;

    /// Named by the keys that lead to them, with dots between; in a module as state_dict() names them.
    const std::map<std::string, TorchTensor>& tensors() const { return tensors_; }
    /// Numbers, texts, and lists and dictionaries of these, under the keys that lead to them. A module is an
    /// object with its "class" ("bpnetlite.bpnet.BPNet"), its attributes and, under their names, its modules.
    /// Everything else is left out.
    const Json& values() const { return values_; }

private:
    std::unique_ptr<ZipFile> zip_;
    std::map<std::string, TorchTensor> tensors_;
    Json values_ = Json::object();
};

}  // namespace bigbird::networks
