// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/files/check_weights.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/mapped_file.hpp"
#include "bigbird/model/files/safetensors_header.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace bigbird::model {
namespace fs = std::filesystem;

namespace {

/// Elements whose exponent bits are all set: NaN and infinities.
template <typename Bits>
std::int64_t count_not_finite(std::span<const std::byte> data, Bits exponent) {
    std::int64_t count = 0;
    for (std::size_t i = 0; i + sizeof(Bits) <= data.size(); i += sizeof(Bits)) {
        Bits bits;
        std::memcpy(&bits, data.data() + i, sizeof bits);
        count += (bits & exponent) == exponent ? 1 : 0;
    }
    return count;
}

std::int64_t not_finite(const TensorEntry& entry, std::span<const std::byte> data) {
    if (entry.type == "F64") return count_not_finite<std::uint64_t>(data, 0x7FF0000000000000ULL);
    if (entry.type == "F32") return count_not_finite<std::uint32_t>(data, 0x7F800000U);
    if (entry.type == "BF16") return count_not_finite<std::uint16_t>(data, 0x7F80);
    if (entry.type == "F16") return count_not_finite<std::uint16_t>(data, 0x7C00);
    return 0;
}

/// Adds a file's count to `numbers` and its findings to `findings`.
void check_file(const fs::path& file, std::int64_t& numbers, std::string& findings) {
    const SafetensorsHeader header = read_safetensors_header(file);
    const MappedFile mapped(file);
    for (const auto& [name, entry] : header.tensors) {
        numbers += entry.elements();
        const std::int64_t wrong =
            not_finite(entry, mapped.bytes().subspan(entry.begin, entry.end - entry.begin));
        if (wrong > 0) {
            findings += (findings.empty() ? "" : ", ") + name + " (" + std::to_string(wrong) + " of " +
                        std::to_string(entry.elements()) + ")";
        }
    }
}

}  // namespace

Json check_weights(const fs::path& path) {
    std::vector<fs::path> files;
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) {
        for (const auto& item : fs::directory_iterator(path))
            if (item.path().extension() == ".safetensors") files.push_back(item.path());
        std::ranges::sort(files);
    } else {
        files.push_back(path);
    }
    if (files.empty()) throw InputError("holds no .safetensors file to check", path);
    std::int64_t numbers = 0;
    std::string findings;
    for (const fs::path& file : files)
        check_file(file, numbers, findings);
    if (!findings.empty()) {
        throw InputError("holds numbers that are NaN or infinite, in " + findings +
                             ": the training that made it went wrong, or the file is damaged",
                         path);
    }
    return {{"numbers", numbers}, {"finite", true}};
}

}  // namespace bigbird::model
