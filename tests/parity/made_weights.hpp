// SPDX-License-Identifier: Apache-2.0
// Weights that follow from their names, as in scripts/checks/make_encoder_fixtures.py.
#pragma once

#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/model/safetensors.hpp"

#include <ATen/ATen.h>
#include <zlib.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace bigbird::parity {

using model::TensorMap;

/// As weight() of the script.
inline at::Tensor made_weight(const std::string& name, const std::vector<std::int64_t>& shape) {
    at::Tensor values = at::empty(shape, at::kDouble);
    const std::uint64_t first =
        std::uint64_t{crc32(0, reinterpret_cast<const Bytef*>(name.data()), static_cast<uInt>(name.size()))}
        << 32U;
    auto* const numbers = values.mutable_data_ptr<double>();
    for (std::int64_t i = 0; i < values.numel(); ++i) {
        std::uint64_t x = first + static_cast<std::uint64_t>(i) + 0x9E3779B97F4A7C15ULL;
        x = (x ^ x >> 30U) * 0xBF58476D1CE4E5B9ULL;
        x = (x ^ x >> 27U) * 0x94D049BB133111EBULL;
        x ^= x >> 31U;
        numbers[i] = static_cast<double>(x >> 39U) / (1 << 24) - 1;
    }
    const bool norm = shape.size() == 1 && name.ends_with("weight");
    return (norm ? 1 + 0.3 * values : (shape.size() == 2 ? 0.4 : 0.3) * values).to(at::kFloat);
}

inline TensorMap weights_of(const Json& given) {
    TensorMap weights;
    for (const auto& [name, shape] : given.at("weights").items())
        weights.emplace(name, made_weight(name, shape.get<std::vector<std::int64_t>>()));
    return weights;
}

inline void write_folder(const Json& given, const std::filesystem::path& folder) {
    write_json(folder / "config.json", given.at("config"), Overwrite::allow);
    model::write_safetensors(weights_of(given), folder / "model.safetensors");
}

inline TensorMap inputs_of_case(const Json& given) {
    const auto ids = given.at("input_ids").get<std::vector<std::vector<std::int64_t>>>();
    std::vector<at::Tensor> rows, masks;
    for (std::size_t row = 0; row < ids.size(); ++row) {
        rows.push_back(at::tensor(ids[row], at::kLong));
        masks.push_back(at::arange(rows.back().size(0)) < given.at("lengths")[row].get<std::int64_t>());
    }
    return {{"input_ids", at::stack(rows)}, {"attention_mask", at::stack(masks)}};
}

}  // namespace bigbird::parity
