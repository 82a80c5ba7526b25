// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/safetensors.hpp"

#include "bigbird/core/check.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/model/files/safetensors_header.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <ostream>
#include <utility>

namespace bigbird::model {

namespace {

constexpr std::array<std::pair<const char*, at::ScalarType>, 10> types{{{"F64", at::kDouble},
                                                                        {"F32", at::kFloat},
                                                                        {"F16", at::kHalf},
                                                                        {"BF16", at::kBFloat16},
                                                                        {"I64", at::kLong},
                                                                        {"I32", at::kInt},
                                                                        {"I16", at::kShort},
                                                                        {"I8", at::kChar},
                                                                        {"U8", at::kByte},
                                                                        {"BOOL", at::kBool}}};

std::string type_name(at::ScalarType type) {
    const auto* known = std::ranges::find_if(types, [&](const auto& item) { return item.second == type; });
    BIGBIRD_EXPECTS(known != types.end(), std::string("safetensors has no type for ") + at::toString(type));
    return known->first;
}

/// The order of the tensors' data: wide elements first, so that all are aligned; within one width, by key in
/// byte order.
std::vector<std::string> data_order(const TensorMap& tensors) {
    std::vector<std::string> order;
    for (const auto& item : tensors)
        order.push_back(item.first);
    std::ranges::stable_sort(order, std::greater<>(),
                             [&](const std::string& key) { return tensors.at(key).element_size(); });
    return order;
}

std::string header_text(const TensorMap& tensors, const std::vector<std::string>& order,
                        const std::map<std::string, std::string>& metadata) {
    std::map<std::string, std::string> all = metadata;
    all.emplace("format", "pt");
    std::map<std::string, Json> entries;  // in the order of keys
    std::uint64_t begin = 0, end = 0;
    for (const std::string& key : order) {
        const at::Tensor& tensor = tensors.at(key);
        begin = std::exchange(end, end + tensor.nbytes());
        entries[key] = {{"dtype", type_name(tensor.scalar_type())},
                        {"shape", tensor.sizes().vec()},
                        {"data_offsets", {begin, end}}};
    }
    Json header{{"__metadata__", all}};
    header.update(Json(entries));
    std::string text = header.dump();
    text.append((8 - text.size() % 8) % 8, ' ');
    return text;
}

}  // namespace

at::ScalarType tensor_type(const std::string& name) {
    const auto* known = std::ranges::find_if(types, [&](const auto& type) { return type.first == name; });
    BIGBIRD_EXPECTS(known != types.end(), "the header's reader lets only known types pass");
    return known->second;
}

TensorMap read_safetensors(const std::filesystem::path& path) {
    const SafetensorsHeader header = read_safetensors_header(path);
    std::ifstream in(path, std::ios::binary);
    TensorMap tensors;
    for (const auto& [key, entry] : header.tensors) {
        at::Tensor tensor = at::empty(entry.shape, tensor_type(entry.type));
        in.seekg(static_cast<std::streamoff>(entry.begin));
        in.read(static_cast<char*>(tensor.mutable_data_ptr()),
                static_cast<std::streamsize>(entry.end - entry.begin));
        if (!in) throw InputError("tensor '" + key + "' cannot be read", path);
        tensors.emplace(key, std::move(tensor));
    }
    return tensors;
}

void write_safetensors(const TensorMap& tensors, const std::filesystem::path& path,
                       const std::map<std::string, std::string>& metadata, const Finish& finish) {
    const std::vector<std::string> order = data_order(tensors);
    const std::string header = header_text(tensors, order, metadata);
    write_atomically(path, Overwrite::allow, [&](std::ostream& out) {
        const auto length = static_cast<std::uint64_t>(header.size());
        out.write(reinterpret_cast<const char*>(&length), sizeof(length));
        out << header;
        for (const std::string& key : order) {
            const at::Tensor& kept = tensors.at(key);
            const at::Tensor tensor = (finish ? finish(kept) : kept).detach().cpu().contiguous();
            BIGBIRD_EXPECTS(tensor.nbytes() == kept.nbytes(), "a finished tensor has the size of the other");
            out.write(static_cast<const char*>(tensor.const_data_ptr()),
                      static_cast<std::streamsize>(tensor.nbytes()));
        }
    });
}

}  // namespace bigbird::model
