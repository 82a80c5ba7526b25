// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/network/window_encoder.hpp"

#include "bigbird/core/check.hpp"

#include <algorithm>

namespace bigbird::task_models {

namespace {

/// Index of the piece that spells base `base` of the sequence, or the last one.
std::size_t piece_at(const std::vector<std::int32_t>& pieces, const tokenizer::DnaTokenizer& tokenizer,
                     std::int64_t base) {
    std::int64_t spelt = 0;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        spelt += tokenizer.piece_length(pieces[i]);
        if (spelt > base) return i;
    }
    return pieces.size() - 1;
}

}  // namespace

EncodedWindow encode_window(std::string_view dna, const tokenizer::DnaTokenizer& tokenizer,
                            std::int64_t max_tokens) {
    BIGBIRD_EXPECTS(max_tokens >= 3, "a window needs room for [CLS], one piece and [SEP]");
    EncodedWindow window;
    const std::size_t first = dna.find_first_not_of('N');
    if (first == std::string_view::npos) return window;
    const std::size_t last = dna.find_last_not_of('N');
    const std::vector<std::int32_t> pieces = tokenizer.encode(dna.substr(first, last - first + 1));
    const auto room = static_cast<std::size_t>(max_tokens - 2);
    std::size_t begin = 0, count = pieces.size();
    if (count > room) {
        const auto middle = static_cast<std::int64_t>(dna.size() / 2) - static_cast<std::int64_t>(first);
        const std::size_t centre = piece_at(pieces, tokenizer, std::max<std::int64_t>(middle, 0));
        begin = std::min(centre - std::min(centre, room / 2), count - room);
        count = room;
        window.truncated = true;
    }
    window.first_base = static_cast<std::int64_t>(first);
    for (std::size_t i = 0; i < begin; ++i)
        window.first_base += tokenizer.piece_length(pieces[i]);
    window.ids.reserve(count + 2);
    window.ids.push_back(tokenizer.special_ids().cls);
    const auto from = pieces.begin() + static_cast<std::ptrdiff_t>(begin);
    window.ids.insert(window.ids.end(), from, from + static_cast<std::ptrdiff_t>(count));
    window.ids.push_back(tokenizer.special_ids().sep);
    return window;
}

std::vector<TokenSpan> token_spans(const EncodedWindow& window, const tokenizer::DnaTokenizer& tokenizer) {
    std::vector<TokenSpan> spans;
    std::int64_t begin = window.first_base;
    for (const std::int32_t id : window.ids) {
        spans.push_back({begin, begin + tokenizer.piece_length(id)});
        begin = spans.back().end;
    }
    return spans;
}

void mark_anchor(EncodedWindow& window, const tokenizer::DnaTokenizer& tokenizer, std::int64_t begin,
                 std::int64_t end) {
    if (window.all_n()) return;
    const std::vector<TokenSpan> spans = token_spans(window, tokenizer);
    const auto last_piece = static_cast<std::int32_t>(spans.size()) - 2;
    std::int32_t first = last_piece + 1, last = 0;  // marked, [first, last)
    for (std::int32_t id = 1; id <= last_piece; ++id) {
        const TokenSpan& span = spans[static_cast<std::size_t>(id)];
        if (span.begin >= end || span.end <= begin) continue;
        first = std::min(first, id);
        last = id + 1;
    }
    if (first >= last) {  // the anchor's tokens were cut off
        first = begin >= spans.back().end ? last_piece : 1;
        last = first + 1;
    }
    window.marked_begin = first;
    window.marked_end = last;
}

}  // namespace bigbird::task_models
