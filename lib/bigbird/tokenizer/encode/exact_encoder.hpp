// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/tokenizer/encode/bpe_rules.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace bigbird::tokenizer {

/// Which letters of the text an id spells: [begin, end), 0-based.
struct TextSpan {
    std::size_t begin = 0, end = 0;
    bool operator==(const TextSpan&) const = default;
};

struct Encoding {
    std::vector<std::int32_t> ids;
    std::vector<TextSpan> spans;  ///< by id; adjacent, and together they cover the text
};

struct ExactTables;

/// Encodes text as SentencePiece (or the Hugging Face BPE that the rules came from) does, id for id, in time
/// proportional to its length. Immutable, cheap to copy (shared), thread-safe. One byte is one letter;
/// letters that the rules do not know become the unknown id.
class ExactEncoder {
public:
    /// Builds the tables, in some tens of milliseconds for 32,000 tokens. Tokens that no encoding can contain
    /// (see unreachable()) are left out.
    explicit ExactEncoder(const BpeRules& rules);

    /// Text of any length. Long text is cut into chunks, encoded on up to `threads` threads and joined where
    /// neighboring chunks hold the same token at the same position; the ids never depend on the threads.
    /// Without `with_spans`, spans are empty.
    Encoding encode(std::string_view text, int threads, bool with_spans) const;
    std::vector<std::int32_t> encode(std::string_view text, int threads = 1) const {
        return encode(text, threads, false).ids;
    }

    /// Ids of tokens that encoding never gives, for example because their letters are merged differently.
    /// Ascending.
    std::span<const std::int32_t> unreachable() const;

private:
    std::shared_ptr<const ExactTables> tables_;
};

}  // namespace bigbird::tokenizer
