// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/files/safetensors_header.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/is_there.hpp"
#include "bigbird/core/formats/json_file.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <fstream>
#include <string_view>
#include <utility>

namespace bigbird::model {

namespace {

static_assert(std::endian::native == std::endian::little,
              "safetensors files are little-endian, and read and written as they lie");

constexpr std::uint64_t longest_header = 100'000'000;  // as in the format's own reader
constexpr std::array<std::pair<std::string_view, std::uint64_t>, 10> types{{{"F64", 8},
                                                                            {"I64", 8},
                                                                            {"F32", 4},
                                                                            {"I32", 4},
                                                                            {"F16", 2},
                                                                            {"BF16", 2},
                                                                            {"I16", 2},
                                                                            {"I8", 1},
                                                                            {"U8", 1},
                                                                            {"BOOL", 1}}};

/// Bytes of one element, 0 for an unknown type.
std::uint64_t element_size(const std::string& type) {
    const auto* known = std::ranges::find(types, type, &std::pair<std::string_view, std::uint64_t>::first);
    return known == types.end() ? 0 : known->second;
}

/// Only regular files have a size and random access.
std::uint64_t size_of(const std::filesystem::path& path) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error)) {
        throw InputError(std::filesystem::is_fifo(path, error) ? "is a pipe, a file is needed"
                                                               : "is a device, a file is needed",
                         path);
    }
    const std::uintmax_t size = std::filesystem::file_size(path, error);
    if (error) throw ReadError("cannot be read: " + error.message(), path);
    return size;
}

std::string read_header_text(const std::filesystem::path& path, std::uint64_t file_size) {
    std::ifstream in(path, std::ios::binary);
    std::array<char, 8> raw{};
    in.read(raw.data(), raw.size());
    if (!in) throw InputError("is not a safetensors file: it is shorter than 8 bytes", path);
    const auto length = std::bit_cast<std::uint64_t>(raw);
    if (length > longest_header) {
        throw InputError("is not a safetensors file: its first 8 bytes give no plausible header length",
                         path);
    }
    if (length > file_size - 8) {
        throw InputError("is cut short: its header alone would need " + std::to_string(length + 8) +
                             " bytes, the file has " + std::to_string(file_size),
                         path);
    }
    std::string text(static_cast<std::size_t>(length), '\0');
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    if (!in) throw InputError("cannot be read to the end of its header", path);
    return text;
}

bool is_unsigned_list(const Json& json) {
    return json.is_array() && std::ranges::all_of(
                                  json, [](const Json& item) { return item.is_number_unsigned(); });
}

TensorEntry read_entry(const std::string& name, const Json& json, std::uint64_t data_start,
                       const std::filesystem::path& path) {
    const auto refuse = [&](const std::string& why) {
        throw InputError("tensor '" + name + "' " + why, path);
    };
    if (!json.is_object() || !json.contains("dtype") || !json.at("dtype").is_string() ||
        !json.contains("shape") || !is_unsigned_list(json.at("shape")) || !json.contains("data_offsets") ||
        !is_unsigned_list(json.at("data_offsets")) || json.at("data_offsets").size() != 2)
        refuse("needs a dtype, a shape and two data_offsets");
    TensorEntry entry;
    entry.type = json.at("dtype").get<std::string>();
    std::uint64_t bytes = element_size(entry.type);
    if (bytes == 0) refuse("has the type " + entry.type + ", which cannot be read");
    for (const Json& size : json.at("shape")) {
        const auto value = size.get<std::uint64_t>();
        if (value > (std::uint64_t{1} << 48) || __builtin_mul_overflow(bytes, value, &bytes))
            refuse("has an impossible shape");
        entry.shape.push_back(static_cast<std::int64_t>(value));
    }
    const auto begin = json.at("data_offsets")[0].get<std::uint64_t>(),
               end = json.at("data_offsets")[1].get<std::uint64_t>();
    if (begin > end || end - begin != bytes) refuse("has data_offsets that do not fit its shape and type");
    entry.begin = data_start + begin;
    entry.end = data_start + end;
    if (entry.end < end) refuse("has impossible data_offsets");
    return entry;
}

void require_contiguous(const SafetensorsHeader& header, std::uint64_t data_start, std::uint64_t file_size,
                        const std::filesystem::path& path) {
    std::vector<const TensorEntry*> order;
    for (const auto& item : header.tensors)
        order.push_back(&item.second);
    std::ranges::sort(order, [](const TensorEntry* a, const TensorEntry* b) {
        return std::pair(a->begin, a->end) < std::pair(b->begin, b->end);
    });
    std::uint64_t expected = data_start;
    for (const TensorEntry* entry : order) {
        if (entry->begin != expected)
            throw InputError("is damaged: its tensors overlap or leave a gap", path);
        expected = entry->end;
    }
    if (expected > file_size) {
        throw InputError("is cut short: " + std::to_string(expected) + " bytes are expected, the file has " +
                             std::to_string(file_size),
                         path);
    }
    if (expected < file_size) {
        throw InputError(
            "is damaged: " + std::to_string(file_size - expected) + " bytes follow its last tensor", path);
    }
}

}  // namespace

std::int64_t TensorEntry::elements() const {
    return static_cast<std::int64_t>((end - begin) / element_size(type));
}

SafetensorsHeader read_safetensors_header(const std::filesystem::path& path) {
    if (!is_there(path)) throw InputError("no such file", path);
    require_readable(path);
    const std::uint64_t file_size = size_of(path);
    const std::string text = read_header_text(path, file_size);
    const Json json = nests_too_deeply(text) ? Json() : Json::parse(text, nullptr, false);
    if (!json.is_object())
        throw InputError("is not a safetensors file: its header is not a JSON object", path);
    SafetensorsHeader header;
    const std::uint64_t data_start = 8 + text.size();
    for (const auto& [name, value] : json.items()) {
        if (name != "__metadata__") {
            header.tensors.emplace(name, read_entry(name, value, data_start, path));
            continue;
        }
        for (const auto& [key, item] : value.items())
            header.metadata[key] = item.is_string() ? item.get<std::string>() : item.dump();
    }
    require_contiguous(header, data_start, file_size, path);
    return header;
}

}  // namespace bigbird::model
