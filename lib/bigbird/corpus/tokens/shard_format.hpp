// SPDX-License-Identifier: Apache-2.0
// The bytes of token shards (FORMAT.md): names, header, fingerprint. For the reader and the writer.
#pragma once

#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/tokenizer/tokenizer.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace bigbird::corpus::shard_format {

static_assert(std::endian::native == std::endian::little, "shards are mapped as they lie on disk");

inline constexpr const char* name = "bigbird-dna tokens";
inline constexpr std::uint32_t version = 1;
inline constexpr const char* manifest_file = "manifest.json";
inline constexpr const char* sentences_file = "sentences.bin";
inline constexpr const char* documents_file = "documents.bin";
inline constexpr std::int32_t largest_narrow_vocabulary = std::numeric_limits<std::uint16_t>::max() + 1;

/// tokens-00000.bin
std::string shard_file(std::size_t number);

enum class Kind : std::uint32_t { tokens = 1, sentence_ends = 2, document_ends = 3 };

/// What stands before the elements. Little-endian; no padding.
struct Header {
    std::array<char, 8> magic{'B', 'B', 'D', 'N', 'A', 'T', 'O', 'K'};
    std::uint32_t format_version = version;
    Kind kind = Kind::tokens;
    std::uint32_t element_bytes = 0;
    std::uint32_t number = 0;  ///< of a shard among its like
    std::int64_t first = 0;    ///< elements before this file's first
    std::int64_t count = 0;    ///< elements in this file
    std::array<std::uint8_t, 32> vocabulary{};
    std::array<std::uint8_t, 56> reserved{};
};
static_assert(sizeof(Header) == 128 && std::is_trivially_copyable_v<Header>);

/// SHA-256 of a .model's .vocab text, equal for models that give the same ids, or of a tokenizer.json's
/// bytes.
std::array<std::uint8_t, 32> fingerprint(const tokenizer::DnaTokenizer& tokenizer);
std::string hex(std::span<const std::uint8_t> bytes);

/// A file of the folder, as the manifest lists it.
struct FileSum {
    std::string name, sha256;
    std::int64_t bytes = 0;
};
/// The manifest's list of files. Throws InputError where it has none, or where it names anything but files of
/// the folder itself.
std::vector<FileSum> file_sums(const Json& manifest, const std::filesystem::path& directory);

/// Reads the header in a file's bytes. Throws InputError: no such file of ours, another version, truncated,
/// too long, never finished.
Header parse_header(std::span<const std::byte> file, const std::filesystem::path& path);

}  // namespace bigbird::corpus::shard_format
