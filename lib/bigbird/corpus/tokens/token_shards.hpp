// SPDX-License-Identifier: Apache-2.0
// Reads a tokenized corpus on disk (FORMAT.md, "Token shards"), the output of `tokenize`.
#pragma once

#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/core/formats/mapped_file.hpp"
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
#include <utility>
#include <vector>

// The bytes of token shards (FORMAT.md): names, header, fingerprint. For the reader and the writer.

namespace bigbird::corpus::shard_format {

static_assert(std::endian::native == std::endian::little, "shards are mapped as they lie on disk");

inline constexpr const char* name = "bigbird-dna tokens";
inline constexpr std::uint32_t version = 1;
inline constexpr int marked_version = 2;  ///< of a manifest whose corpus has marked tokens
inline constexpr const char* manifest_file = "manifest.json";
inline constexpr const char* sentences_file = "sentences.bin";
inline constexpr const char* documents_file = "documents.bin";
inline constexpr std::int32_t largest_narrow_vocabulary =  // whose marked ids have 16 bits
    (std::numeric_limits<std::uint16_t>::max() + 1) / 2;

/// tokens-00000.bin
std::string shard_file(std::size_t number);

enum class Kind : std::uint32_t { tokens = 1, sentence_ends = 2, document_ends = 3 };

/// The header before the elements. Little-endian; no padding.
struct Header {
    std::array<char, 8> magic{'B', 'B', 'D', 'N', 'A', 'T', 'O', 'K'};
    std::uint32_t format_version = version;
    Kind kind = Kind::tokens;
    std::uint32_t element_bytes = 0;
    std::uint32_t number = 0;  ///< a shard's number among its kind
    std::int64_t first = 0;    ///< elements before this file's first
    std::int64_t count = 0;    ///< elements in this file
    std::array<std::uint8_t, 32> vocabulary{};
    std::array<std::uint8_t, 56> reserved{};
};
static_assert(sizeof(Header) == 128 && std::is_trivially_copyable_v<Header>);

/// SHA-256 of a .model's .vocab text, which is equal for models that give the same ids, or of a
/// tokenizer.json's bytes: as text, and as bytes.
std::string vocabulary_sha256(const tokenizer::DnaTokenizer& tokenizer);
std::array<std::uint8_t, 32> fingerprint(const tokenizer::DnaTokenizer& tokenizer);

/// A file of the folder, as the manifest lists it.
struct FileSum {
    std::string name, sha256;
    std::int64_t bytes = 0;
};
/// The manifest's list of files. Throws InputError if it has none, or if it names anything but files of
/// the folder itself.
std::vector<FileSum> file_sums(const Json& manifest, const std::filesystem::path& directory);

/// Reads the header in a file's bytes. Throws InputError: not a file of token shards, another version,
/// truncated, too long, never finished.
Header parse_header(std::span<const std::byte> file, const std::filesystem::path& path);

}  // namespace bigbird::corpus::shard_format

namespace bigbird::corpus {

/// Counts of a corpus.
struct TokenCounts {
    std::int64_t documents = 0, sentences = 0, tokens = 0, bases = 0;
    bool operator==(const TokenCounts&) const = default;
};

/// Numbers [begin, end) of sentences or of tokens.
struct IndexRange {
    std::int64_t begin = 0, end = 0;
};

/// Reads a folder of token shards through memory maps: opening checks only headers and sizes, and pages are
/// loaded as tokens are read. Immutable, thread-safe. Documents, sentences and tokens are numbered from 0
/// over all shards; every access takes constant time (a token's shard is found among the few that there are).
class TokenShards {
public:
    /// Throws InputError, naming the file and what to do, if the folder is not a corpus of tokens, is of
    /// another version or lacks a file. Also if a file is truncated, too long, of another corpus or made with
    /// another tokenizer than the folder's own.
    explicit TokenShards(const std::filesystem::path& directory);
    /// The same. Also throws InputError if the corpus was not made with `tokenizer` (compares tokens and
    /// scores).
    TokenShards(const std::filesystem::path& directory, const tokenizer::DnaTokenizer& tokenizer);

    const TokenCounts& counts() const { return counts_; }
    /// The tokenizer of the corpus, from the folder's copy.
    const tokenizer::DnaTokenizer& tokenizer() const { return tokenizer_; }
    /// manifest.json: counts, checksums, provenance.
    const Json& manifest() const { return manifest_; }
    const std::filesystem::path& directory() const { return directory_; }

    /// Ascending ends (sentences): sentence s has the tokens from the end of s - 1 (or 0) to its own end.
    std::span<const std::int64_t> sentence_ends() const { return sentences_.as<std::int64_t>(); }
    /// Ascending ends (documents): document d has the sentences from the end of d - 1 (or 0) to its own end.
    std::span<const std::int64_t> document_ends() const { return documents_.as<std::int64_t>(); }

    /// Reads all ends. Throws InputError if they are not ascending, which opening does not check. Only
    /// ascending ends give sentence and token numbers within the corpus.
    void require_rising_ends() const;

    /// Whether tokens of repeats are marked (encode_marked()).
    bool is_marked() const { return is_marked_; }

    /// Appends the ids of `tokens` to `out`, as encode_marked() gives them. Throws InputError if the shard
    /// contains other ids, or if `tokens` is outside the corpus, which happens if the ends are not ascending.
    void append_marked(const IndexRange& tokens, std::vector<std::int32_t>& out) const;

    /// Reads everything and compares it with the manifest's checksums. Throws InputError naming the first
    /// file that differs, or if ends are not ascending.
    void verify(int threads) const;

private:
    using Kind = shard_format::Kind;
    /// A memory-mapped file of the corpus, whose header is checked against the manifest.
    struct Shard {
        MappedFile file;
        shard_format::Header header;

        std::int64_t end() const { return header.first + header.count; }
        template <typename Element>
        std::span<const Element> as() const {
            return {reinterpret_cast<const Element*>(file.bytes().data() + sizeof header),
                    static_cast<std::size_t>(header.count)};
        }
    };
    Shard map(const std::string& name, Kind kind, std::size_t number, std::int64_t first) const;
    std::vector<Shard> map_tokens() const;
    Shard map_ends(const char* name, Kind kind, std::int64_t count, std::int64_t last) const;

    std::filesystem::path directory_;
    Json manifest_;
    tokenizer::DnaTokenizer tokenizer_;
    std::array<std::uint8_t, 32> vocabulary_;
    bool is_marked_;
    TokenCounts counts_;
    std::vector<Shard> shards_;
    Shard sentences_, documents_;
};

/// Whether a folder's manifest declares a corpus of tokens.
bool is_token_corpus(const std::filesystem::path& directory);

/// Describes a corpus of tokens: counts, lengths, files, inputs. `verified`: whether the checksums were
/// compared.
Json describe(const TokenShards& shards, bool verified);

}  // namespace bigbird::corpus
