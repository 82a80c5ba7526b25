// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/core/files.hpp"
#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/corpus/tokens/token_shards.hpp"
#include "bigbird/tokenizer/tokenizer.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

namespace bigbird::corpus {

/// Writes a folder of token shards (FORMAT.md), which appears complete at commit(); without commit(), nothing
/// is left. Holds a few megabytes, however long the corpus. Not thread-safe.
class TokenShardWriter {
public:
    static constexpr std::int64_t default_shard_tokens = 500'000'000;

    /// A shard ends with the document that reaches `shard_tokens`. Throws ConfigError as PendingOutput does.
    TokenShardWriter(const std::filesystem::path& directory, const tokenizer::DnaTokenizer& tokenizer,
                     Overwrite overwrite, std::int64_t shard_tokens = default_shard_tokens);
    ~TokenShardWriter();

    /// Adds a sentence, as encode_marked() gives it, to the current document; one without a token is left
    /// out. Throws WriteError.
    void add_sentence(std::span<const std::int32_t> ids, std::int64_t bases);
    /// Ends the current document; one without a sentence is left out.
    void end_document();
    const TokenCounts& counts() const;

    /// Writes the manifest with `inputs` and all checksums; the returned folder is then ready for commit().
    /// Throws InputError if there was no token, WriteError.
    PendingOutput& finish(const Json& inputs, int threads);
    /// Calls finish(), and renames the folder to its final name.
    void commit(const Json& inputs, int threads);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace bigbird::corpus
