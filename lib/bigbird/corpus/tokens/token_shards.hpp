// SPDX-License-Identifier: Apache-2.0
// A tokenised corpus on disk (FORMAT.md, "Token shards"), as `tokenize` writes it.
#pragma once

#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/tokenizer/tokenizer.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace bigbird::corpus {

/// How much a corpus holds.
struct TokenCounts {
    std::int64_t documents = 0, sentences = 0, tokens = 0, bases = 0;
    bool operator==(const TokenCounts&) const = default;
};

/// Numbers [begin, end) of sentences or of tokens.
struct IndexRange {
    std::int64_t begin = 0, end = 0;
    std::int64_t size() const { return end - begin; }
    bool operator==(const IndexRange&) const = default;
};

/// Reads a folder of token shards through memory maps: opening looks at headers and sizes alone, and pages
/// come in as tokens are asked for. Immutable, cheap to copy (shared), thread-safe. Documents, sentences and
/// tokens are numbered from 0 over the whole folder; every access takes constant time (a token's shard is
/// found among the few that there are).
class TokenShards {
public:
    /// Throws InputError, naming the file and what to do, where the folder is no corpus of tokens, is of
    /// another version, lacks a file, or a file is truncated, too long, of another corpus or made with
    /// another tokenizer than the folder's own.
    explicit TokenShards(const std::filesystem::path& directory);
    /// The same, and throws InputError where the corpus was not made with `tokenizer` (told by its pieces
    /// and their scores).
    TokenShards(const std::filesystem::path& directory, const tokenizer::DnaTokenizer& tokenizer);

    const TokenCounts& counts() const;
    /// The folder's own copy of what the sentences were encoded with.
    const tokenizer::DnaTokenizer& tokenizer() const;
    /// manifest.json: counts, checksums, provenance.
    const Json& manifest() const;
    const std::filesystem::path& directory() const;

    /// Rising ends (sentences): sentence s holds the tokens from the end of s - 1 (or 0) to its own.
    std::span<const std::int64_t> sentence_ends() const;
    /// Rising ends (documents), in sentences.
    std::span<const std::int64_t> document_ends() const;

    /// Reads all ends. Throws InputError where they do not rise, which opening does not look at: numbers of
    /// sentences and tokens that follow from them are within the corpus only then.
    void require_rising_ends() const;

    /// Appends the ids of `tokens` to `out`; all are pieces of tokenizer(). Throws InputError where the
    /// shard holds anything else, or where `tokens` are none of the corpus, as ends that do not rise make
    /// them.
    void append_ids(const IndexRange& tokens, std::vector<std::int32_t>& out) const;

    /// Reads everything and compares it with the manifest's checksums. Throws InputError naming the first
    /// file that differs, or where ends do not rise.
    void verify(int threads) const;

private:
    struct State;
    std::shared_ptr<const State> state_;
};

/// Whether a folder says that it is a corpus of tokens.
bool is_token_corpus(const std::filesystem::path& directory);

}  // namespace bigbird::corpus
