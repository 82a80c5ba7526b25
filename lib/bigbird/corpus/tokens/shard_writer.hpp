// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/core/files.hpp"
#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/corpus/tokens/token_shards.hpp"
#include "bigbird/tokenizer/tokenizer.hpp"

#include <array>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bigbird::corpus {

/// A file of elements after a header. The header is filled in at the end, so that an unfinished file can be
/// recognized. Functions throw WriteError.
class ElementFile {
public:
    /// `target` is the file's final path, which errors name.
    ElementFile(const std::filesystem::path& path, std::filesystem::path target, shard_format::Header header);
    template <typename Element>
    void append(std::span<const Element> elements) {
        put(elements.data(), elements.size_bytes());
        header_.count += static_cast<std::int64_t>(elements.size());
    }
    std::int64_t count() const { return header_.count; }
    void finish();

private:
    struct Close {
        void operator()(std::FILE* file) const noexcept { std::fclose(file); }
    };
    [[noreturn]] void fail() const;
    void put(const void* bytes, std::size_t size);

    std::filesystem::path name_;
    shard_format::Header header_;
    std::unique_ptr<std::FILE, Close> file_;
};

/// Writes a folder of token shards (FORMAT.md), which appears complete at commit(); without commit(), nothing
/// is left. Holds a few megabytes, however long the corpus. Not thread-safe.
class TokenShardWriter {
public:
    static constexpr std::int64_t default_shard_tokens = 500'000'000;

    /// A shard ends with the document that reaches `shard_tokens`. Throws ConfigError as PendingOutput does.
    TokenShardWriter(const std::filesystem::path& directory, const tokenizer::DnaTokenizer& tokenizer,
                     Overwrite overwrite, std::int64_t shard_tokens = default_shard_tokens);

    /// Adds a sentence, as encode_marked() gives it, to the current document; one without a token is left
    /// out. Throws WriteError.
    void add_sentence(std::span<const std::int32_t> ids, std::int64_t bases);
    /// Ends the current document; one without a sentence is left out.
    void end_document();
    const TokenCounts& counts() const { return counts_; }

    /// Writes the manifest with `inputs` and all checksums; the returned folder is then ready for commit().
    /// Throws InputError if there was no token, WriteError.
    PendingOutput& finish(const Json& inputs, int threads);
    /// Calls finish(), and renames the folder to its final name.
    void commit(const Json& inputs, int threads) { finish(inputs, threads).commit(); }

private:
    ElementFile open(const std::string& name, shard_format::Kind kind, std::uint32_t element_bytes,
                     std::size_t number = 0, std::int64_t first = 0);
    void end_shard();
    Json describe_files(int threads) const;

    PendingOutput output_;
    tokenizer::DnaTokenizer tokenizer_;
    std::int64_t shard_tokens_;
    bool narrow_, is_marked_ = false;
    std::array<std::uint8_t, 32> vocabulary_;
    TokenCounts counts_;
    std::size_t shards_ = 0;
    std::vector<std::string> files_;
    ElementFile sentences_, documents_;
    std::optional<ElementFile> shard_;
    std::vector<std::uint16_t> narrow_ids_;
    std::int64_t sentences_of_documents_ = 0;
};

}  // namespace bigbird::corpus
