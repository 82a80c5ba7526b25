// SPDX-License-Identifier: Apache-2.0
// The head of a safetensors file, read without LibTorch: 8-byte little-endian length of a JSON object, the
// object, then raw tensors.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace bigbird::model {

struct TensorEntry {
    std::string type;  ///< F64, F32, F16, BF16, I64, I32, I16, I8, U8 or BOOL
    std::vector<std::int64_t> shape;
    std::uint64_t begin = 0, end = 0;  ///< bytes, from the start of the file

    std::int64_t elements() const;
};

struct SafetensorsHeader {
    std::map<std::string, TensorEntry> tensors;
    std::map<std::string, std::string> metadata;
};

/// Checks everything that can be checked without the data. Throws InputError if the file is not a safetensors
/// file or is truncated, or if types, shapes and offsets contradict each other or leave gaps.
SafetensorsHeader read_safetensors_header(const std::filesystem::path& path);

}  // namespace bigbird::model
