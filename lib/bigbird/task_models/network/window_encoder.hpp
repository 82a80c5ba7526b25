// SPDX-License-Identifier: Apache-2.0
// Encodes a stretch of DNA as the ids that the network reads: [CLS] tokens [SEP].
#pragma once

#include "bigbird/tokenizer/tokenizer.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace bigbird::task_models {

struct EncodedWindow {
    std::vector<std::int32_t> ids;  ///< [CLS] and [SEP] included; empty if the window is all N
    bool truncated = false;         ///< tokens were left out to fit max_tokens
    std::int64_t first_base = 0;    ///< base of the window where the first token begins
    /// Ids with bases of the window's anchor (mark_anchor), [begin, end); both 0: none marked.
    std::int32_t marked_begin = 0, marked_end = 0;

    bool all_n() const { return ids.empty(); }
};

/// Encodes a window of normalized sequence. Its outer runs of N (beyond a contig's end, assembly gaps) are
/// left out, because thousands of N tokens hold no information and cost time. Inner N stay. A window of more
/// than `max_tokens` tokens (with [CLS] and [SEP]; at least 3) keeps the tokens around its middle base,
/// equally many on each side. If a side has fewer tokens, the other side gets the remaining room.
/// Thread-safe.
EncodedWindow encode_window(std::string_view dna, const tokenizer::DnaTokenizer& tokenizer,
                            std::int64_t max_tokens);

/// The bases of an id of a window, [begin, end) of the window; empty for [CLS] and [SEP].
struct TokenSpan {
    std::int64_t begin = 0, end = 0;
};
std::vector<TokenSpan> token_spans(const EncodedWindow& window, const tokenizer::DnaTokenizer& tokenizer);

/// Marks the ids of an encoded window (encode_window()) that contain any of its bases [begin, end). If
/// truncation removed all of these ids, marks the nearest remaining id.
void mark_anchor(EncodedWindow& window, const tokenizer::DnaTokenizer& tokenizer, std::int64_t begin,
                 std::int64_t end);

}  // namespace bigbird::task_models
