// SPDX-License-Identifier: Apache-2.0
#include "bigbird/corpus/tokens/shard_format.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/checksum.hpp"
#include "bigbird/core/formats/file_name.hpp"

#include <charconv>
#include <cstring>
#include <string_view>

namespace bigbird::corpus::shard_format {

std::string shard_file(std::size_t number) {
    std::string digits = std::to_string(number);
    digits.insert(0, digits.size() < 5 ? 5 - digits.size() : 0, '0');
    return "tokens-" + digits + ".bin";
}

std::array<std::uint8_t, 32> fingerprint(const tokenizer::DnaTokenizer& tokenizer) {
    const bool is_model = std::string_view(tokenizer.file_name()) == "tokenizer.model";
    const std::string text = sha256_of_text(is_model ? tokenizer.vocabulary_text() : tokenizer.serialized());
    std::array<std::uint8_t, 32> bytes{};
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        std::from_chars(text.data() + 2 * i, text.data() + 2 * i + 2, bytes[i], 16);
    }
    return bytes;
}

std::string hex(std::span<const std::uint8_t> bytes) {
    constexpr const char* digits = "0123456789abcdef";
    std::string text;
    for (const std::uint8_t byte : bytes) {
        text += digits[byte >> 4U];
        text += digits[byte & 15U];
    }
    return text;
}

std::vector<FileSum> file_sums(const Json& manifest, const std::filesystem::path& directory) {
    const InputError damaged("has a damaged list of files; run tokenize again", directory / manifest_file);
    const Json list = manifest.is_object() ? manifest.value("files", Json()) : Json();
    if (!list.is_array() || list.empty()) throw damaged;  // null would be read as an empty list
    std::vector<FileSum> files;
    try {
        for (const Json& file : list) {
            files.push_back({file.at("file").get<std::string>(), file.at("sha256").get<std::string>(),
                             file.value("bytes", std::int64_t{0})});
            if (!is_file_name(files.back().name)) {
                throw InputError("names a file outside its folder", directory / manifest_file);
            }
        }
    } catch (const Json::exception&) {
        throw damaged;
    }
    return files;
}

Header parse_header(std::span<const std::byte> file, const std::filesystem::path& path) {
    const Header expected;
    Header header;
    if (file.size() < sizeof header) {
        throw InputError("is truncated: it ends within its header; run tokenize again", path);
    }
    std::memcpy(&header, file.data(), sizeof header);
    if (header.magic != expected.magic) {
        throw InputError("is no file of token shards; run tokenize again", path);
    }
    if (header.format_version != version) {
        throw InputError("is of version " + std::to_string(header.format_version) + ", this program reads " +
                             std::to_string(version) + "; run tokenize again with this program",
                         path);
    }
    const bool narrow_or_wide = header.element_bytes == 2 || header.element_bytes == 4;
    const bool sound = header.kind == Kind::tokens ? narrow_or_wide : header.element_bytes == 8;
    const auto size = static_cast<std::int64_t>(file.size() - sizeof header);
    if (!sound || header.count < 0 || header.first < 0 ||
        header.count > std::numeric_limits<std::int64_t>::max() / 8) {
        throw InputError("has a damaged header; run tokenize again", path);
    }
    const std::int64_t expected_size = header.count * header.element_bytes;
    if (size != expected_size) {
        throw InputError(
            std::string(size < expected_size ? "is truncated" : "is longer than its header says") + ": " +
                std::to_string(size) + " bytes of " + std::to_string(expected_size) +
                "; copy it again or run tokenize again",
            path);
    }
    return header;
}

}  // namespace bigbird::corpus::shard_format
