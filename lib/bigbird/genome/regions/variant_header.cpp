// SPDX-License-Identifier: Apache-2.0
#include "bigbird/genome/regions/variant_header.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/genome/text/byte_stream.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bigbird::genome::detail {

namespace {

constexpr std::size_t longest_header = std::size_t{1} << 28, bcf_prefix = 9;
constexpr std::int64_t largest_place = 10'000'000;
constexpr std::string_view bcf_magic = "BCF\x02";

std::uint32_t little_endian(std::string_view bytes) {
    std::uint32_t value = 0;
    for (std::size_t i = bytes.size(); i-- > 0;)
        value = value << 8U | static_cast<unsigned char>(bytes[i]);
    return value;
}

/// Where the header ends in `text`, the file's first bytes; npos where it goes on.
std::size_t end_of_header(std::string_view text) {
    if (text.starts_with(bcf_magic)) {
        if (text.size() < bcf_prefix) return std::string_view::npos;
        const std::size_t end = bcf_prefix + little_endian(text.substr(5, 4));
        return end <= text.size() ? end : std::string_view::npos;
    }
    if (!text.empty() && text.front() != '#') return 0;
    std::size_t newline = text.find('\n');
    while (newline + 1 < text.size() && newline != std::string_view::npos) {
        if (text[newline + 1] != '#') return newline + 1;
        newline = text.find('\n', newline + 1);
    }
    return std::string_view::npos;
}

/// The header, or all where there is no end to it.
std::string read_header(const std::filesystem::path& path) {
    ByteStream stream(path);
    std::string text;
    std::vector<char> buffer(1 << 16);
    while (const std::size_t size = stream.read(buffer.data(), buffer.size(), 0)) {
        text.append(buffer.data(), size);
        if (const std::size_t end = end_of_header(text); end != std::string_view::npos) {
            text.resize(end);
            break;
        }
        if (text.size() > longest_header) throw InputError("has a header of more than 256 MB", path);
    }
    return text;
}

}  // namespace

void check_variant_header(const std::filesystem::path& path) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error)) return;
    const std::string header = read_header(path);
    constexpr std::string_view key = "IDX=";
    for (std::size_t at = header.find(key); at != std::string::npos; at = header.find(key, at + 1)) {
        const char *const begin = header.data() + at + key.size(), *const end = header.data() + header.size();
        std::int64_t place = 0;
        const auto read = std::from_chars(begin, end, place);
        const bool is_place = read.ec == std::errc() && place >= 0 && place <= largest_place;
        if (is_place || read.ec == std::errc::invalid_argument) continue;
        throw InputError(
            "has a header with IDX=" +
                std::string(begin, std::find_if(begin, end,
                                                [](char c) { return c == ',' || c == '>' || c == '\n'; })) +
                ", which no dictionary of a real file reaches; 'bcftools view' makes it anew",
            path, 1 + std::count(header.begin(), header.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
    }
    if (header.starts_with(bcf_magic) && end_of_header(header) == std::string_view::npos) {
        throw InputError("its header says that it is longer than the file; copy it again", path);
    }
}

}  // namespace bigbird::genome::detail
